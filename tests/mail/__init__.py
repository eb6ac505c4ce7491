"""Tests of mails: their sender against real SMTP servers, verified addresses, and password resets."""
