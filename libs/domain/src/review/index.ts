export { copiesOf, type FileLines, hashesAt, linesOf, type Place, placeOf } from './anchor.js';
export { answersIn, type ThreadAnswer } from './answers.js';
export { type FolderChange, type FolderListing, filesOfFolder, type ListedAtMost } from './by-folder.js';
export { byChapter, CHAPTERS, type Chapter, chapterOf } from './chapters.js';
export { type OutgoingComment, reviewMessage } from './review-message.js';
export { seenHash } from './seen-hash.js';
export { type HunkDirection, turnHunk } from './turn-hunk.js';
export { visibleMarks } from './visible-marks.js';
export { type FileEdit, writersOf, writtenLines } from './written-lines.js';
