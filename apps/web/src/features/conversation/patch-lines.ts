import { blobRefOf } from '@slipway/contracts/events';

export interface PatchedLines {
  readonly files: ReadonlyArray<{
    readonly verb: 'added' | 'edited' | 'deleted' | 'moved';
    readonly path: string;
    readonly movedTo: string | null;
    /** `@` stands for what is left out between two places. */
    readonly lines: ReadonlyArray<{ readonly sign: '+' | '-' | ' ' | '@'; readonly text: string }>;
  }>;
  readonly added: number;
  readonly removed: number;
  /** The text was a blob: only its beginning is here. */
  readonly cut: boolean;
}

const VERBS = { Add: 'added', Update: 'edited', Delete: 'deleted' } as const;

/** What a patch of the form `*** Begin Patch` does, for a reader: any text gives something, also half a patch. */
export function patchLines(text: string): PatchedLines {
  const ref = blobRefOf(text);
  const files: Array<{
    verb: PatchedLines['files'][number]['verb'];
    path: string;
    movedTo: string | null;
    lines: Array<PatchedLines['files'][number]['lines'][number]>;
  }> = [];
  for (const line of (ref?.preview ?? text).split('\n')) {
    const [, verb, path = ''] = /^\*\*\* (Add|Update|Delete) File: (.+)$/.exec(line.trim()) ?? [];
    const [, movedTo] = /^\*\*\* Move to: (.+)$/.exec(line.trim()) ?? [];
    const file = files.at(-1);
    if (verb !== undefined) files.push({ verb: VERBS[verb as keyof typeof VERBS], path, movedTo: null, lines: [] });
    else if (file === undefined || line.startsWith('*** E')) continue;
    else if (movedTo !== undefined) Object.assign(file, { verb: 'moved', movedTo });
    else if (line.startsWith('@@')) {
      // The first place needs no sign that something is left out before it.
      if (file.lines.length > 0 || line.length > 3) file.lines.push({ sign: '@', text: line.slice(3) });
    } else if (line[0] === '+' || line[0] === '-') file.lines.push({ sign: line[0], text: line.slice(1) });
    else file.lines.push({ sign: ' ', text: line.slice(1) });
  }
  for (const { lines } of files) while (lines.at(-1)?.sign === ' ' && lines.at(-1)?.text === '') lines.pop();
  const count = (sign: string): number =>
    files.reduce((sum, { lines }) => sum + lines.filter((line) => line.sign === sign).length, 0);
  return { files, added: count('+'), removed: count('-'), cut: ref !== null };
}
