-- Appends an act to the moderation log, once under its name.
-- KEYS: minted, log, head.
-- ARGV: partition, moderation_act_prefix, removed_text_prefix, text_seconds, name, actor, kind, subject, report, note, text.
-- Returns the act's id, false when it was appended before.
return append_act(
  {
    minted = minted, log = log, head = head, partition = partition, act_prefix = moderation_act_prefix,
    text_prefix = removed_text_prefix, text_seconds = text_seconds,
  },
  {name = name, actor = actor, kind = kind, subject = subject, report = report, note = note, text = text}
)
