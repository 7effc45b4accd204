"""The blueprint: hold'em with few bets and hands in buckets, solved by external-sampling MCCFR in compiled code."""
