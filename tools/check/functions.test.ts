import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { functionsOverLimits, overLimits } from './functions.ts';

const sentences = (source: string, file = 'a.ts'): string[] =>
  overLimits(file, source).map(({ line, sentence }) => `${line} ${sentence.split(';')[0]}`);

describe('the check of functions', () => {
  it('names functions, methods, signatures and types with more than four positional parameters', () => {
    expect(sentences('export function send(a: A, b: B, c: C, d: D): void {}\n')).toEqual([]);
    expect(
      sentences(
        `export function send(a: A, b: B, c: C, d: D, e: E): void {}
const post = (a: A, b: B, c: C, d: D, e = 1) => a;
class Client {
  async call(a: A, b: B, c: C, d: D, e?: E): Promise<void> {}
}
interface Port {
  get(a: A, b: B, c: C, d: D, e: E): void;
}`,
      ),
    ).toEqual(['1 send', '2 post', '4 call', '7 get'].map((at) => `${at} has 5 positional parameters`));
  });

  it('counts an object as one parameter, and what a decorator names as none', () => {
    expect(sentences('function send(a: A, { b, c, d, e }: Options) {}')).toEqual([]);
    expect(
      sentences(
        'class Controller {\n  read(@Caller() a: A, @Param("b") b: B, @Query() c: C, @Req() d: D, @Res() e: E) {}\n}',
      ),
    ).toEqual([]);
  });

  it('names classes with more than five collaborators, without clock, ids, logger, configuration and plain values', () => {
    const collaborators = ['a', 'b', 'c', 'd', 'e'].map((name) => `private readonly ${name}: Service`);
    const surroundings = [
      'clock: Clock',
      'ids: Ids',
      'logger: Logger',
      'config: Config',
      'replica: string',
      'limit = 5',
      'closed: AbortSignal',
      'url: string | null',
    ];
    const classOf = (parameters: readonly string[]): string =>
      `class Job {\n  constructor(${parameters.join(', ')}) {}\n}`;
    expect(sentences(classOf([...collaborators, ...surroundings]))).toEqual([]);
    expect(sentences(classOf([...collaborators, 'private readonly f: Service']))).toEqual([
      '2 class Job has 6 collaborators',
    ]);
    expect(sentences(classOf([...collaborators, 'f: Service']), 'jobs.module.ts')).toEqual([]);
  });

  it('names functions over a hundred lines', () => {
    const of = (lines: number): string => `function long() {\n${'  work();\n'.repeat(lines - 2)}}`;
    expect(sentences(of(100))).toEqual([]);
    expect(sentences(of(101))).toEqual(['1 long has 101 lines']);
  });

  it('reports what is excepted without need, and nothing of tests', () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'functions-'));
    try {
      for (const folder of ['', 'testing']) mkdirSync(path.join(root, 'libs/x/src', folder), { recursive: true });
      const long = 'export const f = (a: A, b: B, c: C, d: D, e: E) => a;\n';
      for (const file of ['f.ts', 'f.test.ts', 'testing/f.ts'])
        writeFileSync(path.join(root, 'libs/x/src', file), long);
      expect(functionsOverLimits(root, {})).toEqual([
        expect.stringContaining('libs/x/src/f.ts:1: f has 5 positional parameters'),
      ]);
      expect(functionsOverLimits(root, { 'libs/x/src/f.ts f': 'why', 'libs/x/src/g.ts g': 'why' })).toEqual([
        expect.stringContaining('libs/x/src/g.ts g is within'),
      ]);
    } finally {
      rmSync(root, { recursive: true, force: true });
    }
  });
});
