/** Renaming, pinning, tagging, archiving, deleting and restoring conversations. */
export const conversationEdits = {
  title: 'Title',
  archived: '{count, plural, one {Conversation} other {# conversations}} archived.',
  unarchived: '{count, plural, one {Conversation} other {# conversations}} moved back to open.',
  deleted:
    '{count, plural, one {Conversation} other {# conversations}} deleted. Restore from the trash within 48 hours.',
  restored: '{count, plural, one {Conversation} other {# conversations}} restored.',
  notChanged: '{count, plural, one {Not changed} other {# not changed}}: {why}',
  itFailed: 'It failed. Try again.',
  thisConversationWasDeleted: 'This conversation was deleted',
  youCanRestoreIt: 'You can restore it for 48 hours after the deletion.',
  itsOwnerCanRestoreIt: 'Its owner or an admin can restore it for 48 hours after the deletion.',
  whatYouTyped: 'Your unsent message is kept:',
  restore: 'Restore',
} as const;
