import { SHINGLE_BYTES, Winnowing } from '@slipway/net';
import { Base64Runs } from './base64-runs.js';
import type { PrintSet } from './print-set.js';
import { formOf, Unescaping } from './text-form.js';

/** Looks in one body for text of a workspace: as it stands there, with the escapes of its form, and in base64. */
export class BodyScan {
  private readonly ofFolders: Float64Array;
  private readonly whole: Winnowing;
  private readonly runs: Base64Runs;
  private unescaping: Unescaping | null = null;

  constructor(
    private readonly prints: PrintSet,
    private readonly type: string,
  ) {
    this.ofFolders = new Float64Array(prints.folders.length);
    this.whole = this.matching();
    const decoded = this.matching();
    this.runs = new Base64Runs((bytes) => decoded.push(bytes));
  }

  push(chunk: Buffer): void {
    if (chunk.length === 0) return;
    this.unescaping ??= new Unescaping(formOf(this.type, chunk[0]));
    const text = this.unescaping.push(chunk);
    this.whole.push(text);
    this.runs.push(text);
  }

  /** Bytes of each folder that were found. */
  found(): Map<string, number> {
    const found = new Map<string, number>();
    for (const [index, bytes] of this.ofFolders.entries())
      if (bytes > 0) found.set(this.prints.folders[index] as string, bytes);
    return found;
  }

  /** Bytes between two fingerprints of the workspace that follow each other are of it too. */
  private matching(): Winnowing {
    const { prints, ofFolders } = this;
    let [before, counted, wasFound] = [-1, -1, false];
    return new Winnowing(prints.window, (print, end) => {
      const folder = prints.folderOf(print);
      if (folder >= 0) {
        const follows = wasFound && end - before <= prints.window;
        const begin = follows ? counted : Math.max(counted, end - SHINGLE_BYTES);
        ofFolders[folder] = (ofFolders[folder] as number) + end - begin;
        counted = end;
      }
      wasFound = folder >= 0;
      before = end;
    });
  }
}
