export { installationSource, sealedInstallation } from './installation-source.js';
export { AppSecrets, InstalledApps, isProved, type OpenedApp } from './installed-apps.js';
export { type PlatformApps, platformAppsVariable } from './platform-apps.js';
export {
  APP_SECRET,
  findApp,
  findBot,
  INSTALLATION_SECRET,
  type InstallationFacts,
  noteApproved,
  noteReleased,
  noteRemoved,
  noteResumed,
  noteSuspended,
  type StoredApp,
  writeFacts,
} from './stored-apps.queries.js';
