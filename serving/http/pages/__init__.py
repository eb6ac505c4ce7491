"""Pages that the links in mails open: they verify an address or reset a password, without JavaScript and front end.

A link shows a form, and only the form's button uses the token. So programs that follow links in mails use none up.
"""
