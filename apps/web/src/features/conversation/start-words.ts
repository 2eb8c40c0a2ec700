import type { StartStatus } from '@slipway/contracts/conversations';
import type { MessageKey } from '../../messages/translate.ts';

/** What users read of a start's steps. */
export const START_NAMES: Readonly<Record<StartStatus, MessageKey>> = {
  WORKING: 'conversation.takeTheTask',
  WAITING_FOR_SANDBOX: 'conversation.getASandbox',
  PREPARING_REPOSITORY: 'conversation.prepareTheRepository',
  RUNNING_SETUP_SCRIPT: 'conversation.runTheSetupScript',
  SETTING_UP_GIT_HOOKS: 'conversation.setUpGitHooks',
  SETTING_UP_SKILLS: 'conversation.readInstructionsAndSkills',
  STARTING_CONVERSATION: 'conversation.startTheAgent',
  READY: 'conversation.ready',
  ERROR: 'conversation.startFailed',
};
