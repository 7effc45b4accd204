"""The Play page's server side: tables, hands, scenes and the opponent's mind."""
