export const form = {
  requestId: 'Request ID <code>{requestId}</code>',
  copyItNowItIs: 'Copy it now. It is not shown again.',
  copied: 'Copied',
  copy: 'Copy',
  someoneElseHasChanged: 'Someone else has changed {what}.',
  reload: 'Reload',
  yourChangesAreNotSaved: 'Your changes are not saved. Reloading discards them.',
} as const;
