import type { StartStatus } from '@slipway/contracts';

/** What users read of a start's steps. */
export const START_NAMES: Readonly<Record<StartStatus, string>> = {
  WORKING: 'Take the task',
  WAITING_FOR_SANDBOX: 'Get a sandbox',
  PREPARING_REPOSITORY: 'Prepare the repository',
  RUNNING_SETUP_SCRIPT: 'Run the setup script',
  SETTING_UP_GIT_HOOKS: 'Set up git hooks',
  SETTING_UP_SKILLS: 'Read instructions and skills',
  STARTING_CONVERSATION: 'Start the agent',
  READY: 'Ready',
  ERROR: 'Start failed',
};
