export const adminSettings = {
  defaultsForAllConversationsOf: 'Defaults for all conversations of this organization.',
  thisInstallationSendsNoUsage: 'This installation sends no usage data.',
  sentToActionsOfMembers:
    'Sent to {host}: actions of members with counts, times, cost and model names. Never prompts, code, names or repositories. Only for members who share usage data in their own settings. Turning it off deletes unsent data.',
  settingsSaved: 'Settings saved.',
  installationDefault: 'Installation default',
  notAvailable: '{defaultModel} (not available)',
  defaultModel: 'Default model',
  defaultEnvironment: 'Default environment',
  decidesWhichSecretsAConversation: 'Decides which secrets a conversation gets. Leave empty for none.',
  staging: 'staging',
  maxStepsPerMessage: 'Max steps per message',
  leaveEmptyForTheInstallations: 'Leave empty for the installation’s limit.',
  confirmationPolicy: 'Confirmation policy',
  whenAgentsAskBeforeThey:
    'When agents ask before they act. Users can choose a stricter policy for a conversation, but not a looser one.',
  requireApprovalByAnotherUser: 'Require approval by another user',
  actionsMustBeApprovedBy:
    'Actions must be approved by someone other than the conversation’s owner and the author of the last message. Anyone can reject.',
  allowPersonalSecrets: 'Allow personal secrets',
  whenOffExistingPersonalSecrets: 'When off, existing personal secrets are kept but not used.',
  checkpointDays: 'Keep checkpoints (days)',
  checkpointsAreKeptAfter:
    'After a conversation’s last activity. The newest checkpoint, and those that are named or pinned, are kept as long as the conversation.',
  storePromptsAndAnswers: 'Store prompts and answers',
  promptsContainWhatUsersWrite:
    'Prompts contain what users write and agents read, including code. Detected keys and passwords are masked. Members are informed, and admins can export the data. When off, nothing is stored and stored data is deleted. Only owners can change this.',
  retentionDays: 'Retention (days)',
  exportStoredPrompts: 'Export stored prompts',
  shareUsageData: 'Share usage data',
  showUnsentData: 'Show unsent data',
} as const;
