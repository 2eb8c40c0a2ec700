export const settingsConnections = {
  gitHostAccountsYouSigned:
    'Git host accounts you signed in with. Agents use their tokens for your repositories but never see them.',
  yourConnections: 'Your connections',
  noConnectedAccounts: 'No connected accounts',
  signInThroughAGit: 'Sign in through a git host, such as GitHub or GitLab, to connect its account.',
  provider: 'Provider',
  permissions: 'Permissions',
  unknown: 'unknown',
  connected: 'Connected',
  tokenRenewed: 'Token renewed',
  tokenExpires: 'Token expires',
  doesNotExpire: 'Does not expire',
  disconnect: 'Disconnect {provider}',
  disconnect2: 'Disconnect',
  disconnect3: 'Disconnect {name}?',
  agentsCanNoLongerAccess:
    'Agents can no longer access your repositories there. To reconnect, sign in through {name} again. To revoke the permission itself, do so at {name} too.',
} as const;
