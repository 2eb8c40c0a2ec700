import { describe, expect, it } from '@jest/globals';
import { isPaste, type KeyPress, keyRequest, WayOut } from './keys.ts';
import { placeOnPage } from './place.ts';

const press = (more: Partial<KeyPress> & { graph?: boolean } = {}): KeyPress => ({
  key: 'a',
  code: 'KeyA',
  keyCode: 65,
  location: 0,
  altKey: false,
  ctrlKey: false,
  metaKey: false,
  shiftKey: false,
  isComposing: false,
  getModifierState: (key) => key === 'AltGraph' && more.graph === true,
  ...more,
});

describe('what a key is to the page', () => {
  it('is the key with its modifiers, and ⌘ of a Mac is Control of the sandbox', () => {
    expect(keyRequest('press', press({ shiftKey: true, key: 'A' }), false)).toEqual({
      type: 'key',
      act: 'press',
      key: 'A',
      code: 'KeyA',
      keyCode: 65,
      location: 0,
      modifiers: 8,
    });
    expect(keyRequest('press', press({ metaKey: true }), true)?.modifiers).toBe(2);
    expect(keyRequest('press', press({ metaKey: true }), false)?.modifiers).toBe(4);
    expect(keyRequest('press', press({ key: 'Meta', metaKey: true }), true)).toBeNull();
  });

  it('makes a character of AltGraph, not a command', () => {
    expect(
      keyRequest(
        'press',
        press({ key: '@', code: 'KeyQ', keyCode: 81, ctrlKey: true, altKey: true, graph: true }),
        false,
      )?.modifiers,
    ).toBe(0);
  });

  it('is none while an input method writes, nor on a keyboard of the screen', () => {
    for (const more of [
      { isComposing: true },
      { keyCode: 229 },
      { key: 'Process' },
      { key: 'Unidentified' },
      { key: 'Dead' },
    ])
      expect(keyRequest('press', press(more), false)).toBeNull();
  });

  it('leaves pasting to this browser', () => {
    expect([
      isPaste(press({ key: 'v', ctrlKey: true }), false),
      isPaste(press({ key: 'v', ctrlKey: true }), true),
      isPaste(press({ key: 'V', metaKey: true }), true),
    ]).toEqual([true, false, true]);
  });
});

describe('the way out of the page', () => {
  it('is Escape twice in a row, and soon', () => {
    const way = new WayOut();
    expect([way.press('Escape', 0), way.press('Escape', 300)]).toEqual([false, true]);
    expect([way.press('Escape', 1_000), way.press('a', 1_100), way.press('Escape', 1_200)]).toEqual([
      false,
      false,
      false,
    ]);
    expect([way.press('Escape', 9_000), way.press('Escape', 10_000)]).toEqual([false, false]);
  });
});

describe('a place on the picture', () => {
  it('is the same place of the page at any scale, and never outside of it', () => {
    const box = { left: 100, top: 50, width: 320, height: 200 };
    const page = { width: 1280, height: 800 };
    expect(placeOnPage({ clientX: 260, clientY: 150 }, box, page)).toEqual({ x: 640, y: 400 });
    expect(placeOnPage({ clientX: 0, clientY: 900 }, box, page)).toEqual({ x: 0, y: 799 });
    expect(placeOnPage({ clientX: 1, clientY: 1 }, { ...box, width: 0 }, page)).toEqual({ x: 0, y: 0 });
  });
});
