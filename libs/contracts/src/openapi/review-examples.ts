/** Examples of what users say about changes, and do to them. */
export const REVIEW_EXAMPLES: Readonly<Record<string, unknown>> = {
  // What users do to changes.
  'TurnHunk.file': 'src/retry.ts',
  'TurnHunk.hunk': '@@ -12,2 +12,2 @@\n-const max = 3;\n+const max = 5;\n export { max };',
  'WrittenLines.hash': '1d4c5e6f7a8b9',
  'MarkLooked.seen': '16f3a0c27b9d41',

  'ReviewAnchor.path': 'src/retry.ts',
  'ReviewAnchor.hash': '1d4c5e6f7a8b9',
  'ReviewAnchor.before': '9b8a7f6e5d4c1',
  'ReviewAnchor.after': null,
  'ReviewAnchor.excerpt': '  await sleep(100)',
  'ReviewAnchor.base': '3b18e512dba79e4c8300dd08aeb37f8e728b8dad',
  'ReviewAnchor.repository': null,
  'ReviewComment.suggestion': '  await sleep(100 * 2 ** n)',
  'CreateReviewThread.suggestion': '  await sleep(100 * 2 ** n)',
  'CreateReviewComment.suggestion': '  await sleep(100 * 2 ** n)',
  'ReviewAnswer.commit': '1a2b3c4',
  'ReviewThread.resolvedAt': null,
  'ReviewThread.resolvedBy': null,
  'ViewedFile.path': 'src/retry.ts',
  'ViewedFile.hash': '100644.587be6b4c3f93f93c489c011',
  'SetViewedFile.path': 'src/retry.ts',
  'SetViewedFile.hash': '100644.587be6b4c3f93f93c489c011',
  'ReviewComment.messageId': null,
  'SentReview.messageId': '0198c0de-7c2d-7000-8000-5b1e4a7d3f20',
};
