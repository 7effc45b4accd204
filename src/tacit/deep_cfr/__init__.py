"""Deep CFR (Brown et al. 2019) and Single Deep CFR (Steinberger 2019) on games that compile."""
