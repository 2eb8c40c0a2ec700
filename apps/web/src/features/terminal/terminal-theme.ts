import type { ITheme } from '@xterm/xterm';

/**
 * The sixteen colours that programs name, in the order of their numbers. On the terminal's own ground each but black
 * and white is at least 4.5:1.
 */
const LIGHT = [
  '#17181c',
  '#b3261e',
  '#11703c',
  '#8a5300',
  '#2f55d4',
  '#8b2fa8',
  '#0b6b75',
  '#595d68',
  '#595d68',
  '#b3261e',
  '#11703c',
  '#8a5300',
  '#2f55d4',
  '#8b2fa8',
  '#0b6b75',
  '#17181c',
];
const DARK = [
  '#3a3e48',
  '#ff8a80',
  '#5fcf92',
  '#e6b35a',
  '#8aa6ff',
  '#d69bf0',
  '#6fcfd9',
  '#d5d7dc',
  '#a0a5b1',
  '#ffa69e',
  '#86e0ad',
  '#f2cb85',
  '#a5bbff',
  '#e3b8f5',
  '#97dfe6',
  '#ffffff',
];
const NAMES = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'] as const;

/** As the page looks now. */
export function terminalTheme(dark: boolean): ITheme {
  const style = getComputedStyle(document.documentElement);
  const token = (name: string): string => style.getPropertyValue(name).trim();
  const colours = dark ? DARK : LIGHT;
  const theme: Record<string, string | undefined> = {
    background: token('--term'),
    foreground: token('--ink'),
    cursor: token('--accent'),
    cursorAccent: token('--term'),
    selectionBackground: dark ? '#33437a' : '#c3d1fb',
    selectionInactiveBackground: dark ? '#3a4150' : '#d3d8e6',
  };
  for (const [index, name] of NAMES.entries()) {
    theme[name] = colours[index];
    theme[`bright${name.charAt(0).toUpperCase()}${name.slice(1)}`] = colours[index + 8];
  }
  return theme;
}
