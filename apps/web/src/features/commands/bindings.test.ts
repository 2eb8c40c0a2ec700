import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { collide, conflictsOf, DEFAULT_KEY_SETTINGS, isSingleKey, keysOf, readKeySettings } from './bindings.ts';
import { COMMAND_IDS, COMMANDS } from './commands.ts';
import { displayOf, pressOf } from './press.ts';

const press = (key: string, more: Partial<Record<'metaKey' | 'ctrlKey' | 'altKey' | 'shiftKey', boolean>> = {}) =>
  pressOf({ key, metaKey: false, ctrlKey: false, altKey: false, shiftKey: false, ...more }, false);

describe('the keys of commands', () => {
  it('are of one command each, and none is how another begins', () => {
    for (const id of COMMAND_IDS) {
      const keys = keysOf(id, DEFAULT_KEY_SETTINGS);
      if (keys !== null) expect([id, conflictsOf(id, keys, DEFAULT_KEY_SETTINGS)]).toEqual([id, []]);
    }
  });

  it('collide in both orders alike, however Shift is written', () => {
    const keys = fc.constantFrom('g', 'g c', 'c', '$mod+k', '[Shift]+?', '?', 'Shift+?', 'Shift+g', 'g c d', '$mod+K');
    fc.assert(
      fc.property(keys, keys, (one, other) => {
        const [a, b] = [one, other].map((each) => each.split(' ').length) as [number, number];
        expect(collide(a <= b ? one : other, a <= b ? other : one)).toBe(collide(one, other) || collide(other, one));
        expect(collide(one, one)).toBe(true);
      }),
    );
    expect([collide('?', '[Shift]+?'), collide('g', 'g c'), collide('c', 'g c'), collide('Shift+g', 'g')]).toEqual([
      true,
      true,
      false,
      false,
    ]);
  });

  it('of a single key are off when single keys are, and those with a modifier stay', () => {
    const off = { ...DEFAULT_KEY_SETTINGS, singleKeys: false };
    for (const id of COMMAND_IDS) {
      const keys = keysOf(id, off);
      if (keys !== null && COMMANDS[id].fixed !== true) expect(isSingleKey(keys)).toBe(false);
    }
    expect(keysOf('palette.open', off)).toBe('$mod+k');
    expect(keysOf('go.conversations', off)).toBeNull();
  });

  it('that are stored survive what a browser may hold: nothing breaks, fixed ones stay', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), (stored) => {
        const read = readKeySettings(stored);
        for (const id of COMMAND_IDS) keysOf(id, read);
      }),
    );
    expect(readKeySettings('{"changes":{"task.new":"n","message.send":"x","gone":"y","go.admin":null}}')).toEqual({
      changes: { 'task.new': 'n', 'go.admin': null },
      singleKeys: true,
    });
    expect(readKeySettings(`{"changes":{"task.new":"${'a '.repeat(50)}"}}`)).toEqual(DEFAULT_KEY_SETTINGS);
  });

  it('are recorded as they are matched: letters plain, signs with whatever Shift they need', () => {
    expect([
      press('K', { ctrlKey: true, shiftKey: true }),
      press('?', { shiftKey: true }),
      press('k', { ctrlKey: true }),
      press(' '),
      press('Shift', { shiftKey: true }),
      press('Tab'),
    ]).toEqual(['$mod+Shift+k', '[Shift]+?', '$mod+k', 'Space', null, null]);
    expect(pressOf({ key: 'k', metaKey: true, ctrlKey: false, altKey: false, shiftKey: false }, true)).toBe('$mod+k');
  });

  it('read as this machine writes them', () => {
    expect([
      displayOf('$mod+k', true),
      displayOf('$mod+Enter', false),
      displayOf('g c'),
      displayOf('[Shift]+?'),
    ]).toEqual([['⌘K'], ['Ctrl ↵'], ['g', 'c'], ['?']]);
  });
});
