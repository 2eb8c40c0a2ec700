/** Files, conversations and users that a message mentions. */
export const mention = {
  suggestions: 'Mention',
  file: 'File',
  user: 'User',
  conversation: 'Conversation',
  found: '{count, plural, =0 {No suggestions} one {# suggestion} other {# suggestions}}',
  searching: 'Searching…',
  noMatch: 'Nothing matches.',
  filesAfterStart: 'Files can be mentioned once the conversation has started.',
  filesWhileAway: 'Files can be mentioned while the sandbox is running.',
  notAllRead: 'Not everything could be read. Type on to try again.',
  mentioned: 'Mentioned',
  notFound: 'not found',
} as const;
