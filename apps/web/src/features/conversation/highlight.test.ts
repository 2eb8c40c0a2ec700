import { describe, expect, it } from '@jest/globals';
import { highlightLines } from './highlight.ts';

describe('coloured code', () => {
  it('is the code itself, line by line, with a look for what the language names', async () => {
    const code = "const a = 'x';\n\n// why\nexport default a;";
    for (const name of ['ts', 'typescript', 'src/a.ts']) {
      const lines = await highlightLines(code, name);
      expect(lines?.map((line) => line.map(({ text }) => text).join('')).join('\n')).toBe(code);
      expect(lines?.[0]?.[0]).toEqual({ text: 'const', look: 'tok-keyword' });
      expect(lines?.[2]?.[0]?.look).toBe('tok-comment');
    }
    expect((await highlightLines('echo "$HOME"', 'bash'))?.[0]?.some(({ look }) => look !== '')).toBe(true);
  });

  it('stays plain where no language is known, or there is too much of it', async () => {
    expect(await highlightLines('anything', 'no-such-language')).toBeNull();
    expect(await highlightLines('x'.repeat(60_001), 'ts')).toBeNull();
  });
});
