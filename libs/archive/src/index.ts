export { type ArchivedDirectories, archiveDirectories } from './archive-directories.js';
export { type Directories, volumeBytes } from './directories.js';
export { metered } from './metered.js';
export { restoreDirectories } from './restore-directories.js';
