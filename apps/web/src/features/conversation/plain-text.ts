// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const ESCAPES = /\u001b(?:\[[0-?]*[ -/]*[@-~]|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[@-Z\\-_])/g;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g;

/** Terminal output as text: colours and cursor moves are gone, and of a line that was overwritten the last state stays. */
export function plainText(output: string): string {
  const text = output.replace(ESCAPES, '').replace(/\r\n/g, '\n');
  return (text.includes('\r') ? text.replace(/^.*\r(?!$)/gm, '').replace(/\r/g, '') : text).replace(CONTROLS, '');
}
