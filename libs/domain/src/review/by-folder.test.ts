import { describe, expect, it } from '@jest/globals';
import { filesOfFolder } from './by-folder.js';

const file = (path: string) => ({ path, additions: 2, deletions: 1 });
const atMost = (files: number, lines = Number.POSITIVE_INFINITY) => ({ files, lines });
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index);

describe('filesOfFolder', () => {
  it('lists all files of a folder while there are as many as it may list', () => {
    const files = ['a/1', 'a/b/2', 'ab/3', 'c'].map(file);
    expect(filesOfFolder(files, '', atMost(4))).toEqual({ files, folders: [], left: 0 });
    expect(filesOfFolder(files, 'a', atMost(2))).toEqual({ files: files.slice(0, 2), folders: [], left: 0 });
  });

  it('lists what is right in it and sums up its folders where there are more', () => {
    const files = ['a/1', 'a/b/2', 'ab/3', 'c'].map(file);
    expect(filesOfFolder(files, '', atMost(3))).toEqual({
      files: [file('c')],
      folders: [
        { path: 'a', files: 2, additions: 4, deletions: 2 },
        { path: 'ab', files: 1, additions: 2, deletions: 1 },
      ],
      left: 0,
    });
  });

  it('sums up folders where few files have too many lines', () => {
    const files = ['a/1', 'a/2', 'c'].map(file);
    expect(filesOfFolder(files, '', atMost(5, 8))).toEqual({
      files: [file('c')],
      folders: [{ path: 'a', files: 2, additions: 4, deletions: 2 }],
      left: 0,
    });
    expect(filesOfFolder(files, 'a', atMost(5, 8)).files).toEqual(files.slice(0, 2));
  });

  it('adversary: a flat folder of many files, and many folders of one, are cut with the number that was left out', () => {
    const flat = numbers(20).map((index) => file(`f${index}`));
    const deep = numbers(20).map((index) => file(`d${index}/f`));
    for (const files of [flat, deep, [...flat, ...deep]]) {
      const { files: listed, folders, left } = filesOfFolder(files, '', atMost(5));
      expect(listed.length).toBeLessThanOrEqual(5);
      expect(folders.length).toBeLessThanOrEqual(5);
      expect(listed.length + folders.reduce((sum, each) => sum + each.files, 0) + left).toBe(files.length);
      expect(left).toBeGreaterThan(0);
    }
  });
});
