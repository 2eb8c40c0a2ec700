import { describe, expect, it } from '@jest/globals';
import { csvOf } from './csv.ts';

describe('a CSV', () => {
  it('is quoted where commas, quotes or lines are inside, and nowhere else', () => {
    expect(
      csvOf(
        ['name', 'n'],
        [
          ['a "b", c', 1.5],
          ['two\nlines', null],
        ],
      ),
    ).toBe('\uFEFFname,n\r\n"a ""b"", c",1.5\r\n"two\nlines",\r\n');
  });

  it('has no value that a spreadsheet would run', () => {
    for (const value of ['=1+1', '+1', '-1', '@x', '\tx']) expect(csvOf(['v'], [[value]])).toContain(`'${value}`);
  });
});
