export type { GitLabDiscussion, GitLabHook, GitLabNote, GitLabProject, GitLabThread, GitLabUser } from './model.js';
export { DEVELOPER, MAINTAINER, type NewNote, type NewProject, ScriptedGitLab } from './scripted-gitlab.js';
