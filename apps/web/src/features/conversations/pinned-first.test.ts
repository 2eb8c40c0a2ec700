import { expect, it } from '@jest/globals';
import { pinnedFirst } from './pinned-first.ts';

it('has pinned conversations first, each once, with what the list says of them', () => {
  const rows = pinnedFirst(
    [
      { id: 'b', title: 'old' },
      { id: 'z', title: 'of a later page' },
    ],
    [
      { id: 'a', title: 'A' },
      { id: 'b', title: 'new' },
    ],
  );
  expect(rows.map(({ id, title }) => `${id} ${title}`)).toEqual(['b new', 'z of a later page', 'a A']);
});
