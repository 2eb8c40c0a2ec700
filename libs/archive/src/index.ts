export { type ArchivedDirectories, archiveDirectories } from './archive-directories.js';
export { type ChildProgram, reasonOf, startProgram } from './child-program.js';
export { type Directories, volumeBytes } from './directories.js';
export { metered } from './metered.js';
export { restoreDirectories } from './restore-directories.js';
export { type ZipMember, zipDescriptor, zipEnd, zipHeader, zipMember, zipPacked } from './zip-format.js';
