import { describe, expect, it } from '@jest/globals';
import { csv, csvCell } from './csv.js';

describe('a cell of a table for spreadsheets', () => {
  it('is never a formula, whatever it begins with', () => {
    for (const text of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '=HYPERLINK("http://evil","x")'])
      expect(csvCell(text).replace(/^"/, '')).toMatch(/^'/);
  });
  it('is quoted where it must be, and numbers stay numbers', () => {
    expect(csvCell('a,b')).toBe('"a,b"');
    expect(csvCell('say "a"')).toBe('"say ""a"""');
    expect(csvCell('=a"b')).toBe('"\'=a""b"');
    expect([csvCell(-5), csvCell(null), csvCell('')]).toEqual(['-5', '', '']);
    expect(csv(['a', 'b'], [['x', 1]])).toBe('a,b\r\nx,1\r\n');
  });
});
