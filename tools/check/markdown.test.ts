import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { anchorsOf, linksIn, longLines, markdownProblems } from './markdown.ts';

describe('the check of Markdown', () => {
  it('finds nothing in this repository', () => {
    expect(markdownProblems(path.resolve(import.meta.dirname, '../..'))).toEqual([]);
  });

  it('names long lines of prose, and no row, code or address', () => {
    const long = 'word '.repeat(21).trim();
    expect(longLines(`${long}\n- ${long}`)).toEqual([1, 2]);
    expect(
      longLines(
        `| ${long} |\n\`\`\`sh\n${long}\n\`\`\`\n- https://example.com/${'x'.repeat(100)}\n${'…'.repeat(99)} a`,
      ),
    ).toEqual([6]);
  });

  it('makes anchors as forges do', () => {
    const page =
      '# Where to add `x`, and how?\n## A [link](b.md)\n## A link\n```\n# not one\n```\n### snake_case – é\n';
    expect([...anchorsOf(page)]).toEqual(['where-to-add-x-and-how', 'a-link', 'a-link-1', 'snake_case--é']);
  });

  it('reads relative links and pictures, and none in code', () => {
    expect(linksIn('[a](b.md) ![p](c.png "title") [d](https://e.f) `[g](h.md)` [i](/docs/api) [j](#k)')).toEqual([
      'b.md',
      'c.png',
      '#k',
    ]);
  });

  it('names a link whose file or heading is missing', () => {
    const root = mkdtempSync(path.join(os.tmpdir(), 'markdown-'));
    mkdirSync(path.join(root, 'docs'));
    writeFileSync(path.join(root, 'docs/b.md'), '# Here\n');
    writeFileSync(
      path.join(root, 'README.md'),
      '[ok](docs/b.md#here) [folder](docs)\n[gone](docs/c.md)\n[heading](docs/b.md#there)\n',
    );
    expect(markdownProblems(root)).toEqual([
      'README.md:2 links to docs/c.md: there is no docs/c.md',
      'README.md:3 links to docs/b.md#there: docs/b.md has no such heading',
    ]);
  });
});
