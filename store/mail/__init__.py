"""Mail: mails that wait to be sent, and tokens that were sent by mail. The mails' texts are in `resolvers.mail`."""
