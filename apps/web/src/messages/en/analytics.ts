export const analytics = {
  usageDataIsOn: 'Usage data is on.',
  usageDataIsOffUnsent: 'Usage data is off. Unsent data was deleted.',
  thisInstallationSendsNoUsage: 'This installation sends no usage data.',
  shareUsageData: 'Share usage data',
  sentToAndOnlyFrom: 'Sent to {host}, and only from organizations that also share usage data.',
  yourBrowserAsksSitesNot: 'Your browser asks sites not to track you, so no usage data is sent.',
  whatIsSent: 'What is sent',
  whenYouSignedUpAnd:
    'When you signed up, and actions such as starting or finishing a task and opening or merging a pull request, with counts, times, cost and model name.',
  whatIsNeverSent: 'What is never sent',
  promptsAnswersCodeYourName:
    'Prompts, answers, code, your name, your email address, and names of repositories and branches. You and your organization are identified by pseudonyms.',
} as const;
