export const live = {
  theConnectionWasLost: 'The connection was lost.',
  youAreOfflineReconnectsWhen: 'You are offline. {what} reconnects when the connection is back.',
  theSandboxIsStartingOpens: 'The sandbox is starting. {what} opens once it runs.',
  theSandboxIsPausedResume: 'The sandbox is paused. Resume it to continue.',
  thereIsNoSandboxResume:
    'There is no sandbox. Resume the conversation or send a message to start one with the same files.',
  reconnectsAutomatically: '{reason} {what} reconnects automatically.',
  connectNow: 'Connect now',
  reconnect: 'Reconnect',
  olderSandbox: 'This sandbox runs an older version that does not support this.',
  accessEnded: 'Access to this sandbox was revoked.',
  noAnswer: 'The sandbox does not answer.',
} as const;
