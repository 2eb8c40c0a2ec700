export {
  CallOutputResponse,
  ConfigureRequest,
  ExecuteActionRequest,
  ExecuteActionResponse,
  MAX_OBSERVATION_LENGTH,
  RunCommandRequest,
  RunCommandResponse,
  UnavailableTools,
} from './action-server.js';
export {
  BrowserAction,
  BrowserClickAction,
  BrowserCloseTabAction,
  BrowserGetContentAction,
  BrowserGetStateAction,
  BrowserGetStorageAction,
  BrowserGoBackAction,
  BrowserListTabsAction,
  BrowserNavigateAction,
  BrowserObservation,
  BrowserScrollAction,
  BrowserSetStorageAction,
  BrowserStartRecordingAction,
  BrowserStopRecordingAction,
  BrowserStorage,
  BrowserSwitchTabAction,
  BrowserTypeAction,
  KEEPS_DOWNLOADS,
  MAX_BROWSER_URL_LENGTH,
  MAX_TYPED_LENGTH,
} from './browser.js';
export {
  beginningOf,
  CUT_MARK,
  clippedFrom,
  cutFromMiddle,
  cutFromOutput,
  endOf,
  notShown,
  ONLY_THE_END,
} from './cut-marks.js';
export { FileEditAction, FileEditObservation, MAX_EDITED_LINES } from './file-edit.js';
export { FileEditorAction, FileEditorObservation, PlanningFileEditorAction } from './file-editor.js';
export { IPythonRunCellAction, IPythonRunCellObservation, MAX_CELL_LENGTH } from './ipython.js';
export { MCPToolAction, MCPToolObservation } from './mcp.js';
export { MAX_IMAGES_LENGTH } from './observation.js';
export { ApplyPatchAction, ApplyPatchObservation, MAX_PATCH_LENGTH, PatchedFile } from './patch.js';
export {
  FileEntry,
  GlobAction,
  GlobObservation,
  GrepAction,
  GrepObservation,
  ListDirectoryAction,
  ListDirectoryObservation,
  MAX_LISTED_ENTRIES,
  MAX_SEARCH_RESULTS,
} from './search.js';
export { GivenSkill, InvokeSkillAction } from './skills.js';
export {
  AgentDefinition,
  DelegateAction,
  DelegatedTask,
  DelegateObservation,
  MAX_NAMED_SUB_AGENTS,
  SubAgentEvent,
  TaskAction,
} from './sub-agents.js';
export { TaskItem, TaskTrackerAction } from './task-tracker.js';
export { MAIN_SESSION, TerminalAction, TerminalObservation } from './terminal.js';
export { FinishAction, ThinkAction } from './think-and-finish.js';
export { type Activity, kindOf as toolKindOf, observationKindOf, type ToolContract } from './tool-contract.js';
export { AgentAction, activityOf, hookNamesOf, SandboxAction, SandboxObservation, TOOLS } from './tools.js';
