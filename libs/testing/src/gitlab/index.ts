export { DEVELOPER, MAINTAINER, type NewNote, type NewProject } from './gitlab-state.js';
export type { GitLabDiscussion, GitLabHook, GitLabNote, GitLabProject, GitLabThread, GitLabUser } from './model.js';
export { ScriptedGitLab } from './scripted-gitlab.js';
