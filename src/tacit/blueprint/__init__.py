"""The blueprint: hold'em with few bet sizes and bucketed hands, solved by external-sampling MCCFR in compiled code."""
