import { writeSync } from 'node:fs';
import { QUICK } from './quick.ts';

export interface Figure {
  readonly figure: string;
  readonly value: number;
  readonly unit: 'ms' | 'us' | 's' | '1/s' | '%' | 'x' | 'MiB' | 'MB/s' | 'count' | 'B';
  /** The machine's own limit for this, same unit, same run. */
  readonly floor?: number;
  /** `value ÷ floor` when absent. */
  readonly ratio?: number;
  /** The peer's figure for the same work, same unit. */
  readonly peer?: number;
  /** How many samples stand behind it. */
  readonly n: number;
}

/** Where a bench puts its results. */
export interface Report {
  /** One JSON line on standard output. */
  figure(figure: Figure): void;
  /** A sentence for the reader, on standard error. */
  note(text: string): void;
}

export function createReport(bench: string): Report {
  return {
    figure: (line) => {
      const ratio = line.ratio ?? (line.floor === undefined || line.floor === 0 ? null : line.value / line.floor);
      const whole = {
        bench,
        figure: line.figure,
        value: rounded(line.value),
        unit: line.unit,
        floor: rounded(line.floor),
        ratio: rounded(ratio),
        peer: rounded(line.peer),
        n: line.n,
        // So that it is not mistaken for a figure.
        ...(QUICK ? { quick: true } : {}),
      };
      writeSync(1, `${JSON.stringify(whole)}\n`);
    },
    note: (text) => void writeSync(2, `${bench}: ${text}\n`),
  };
}

/** Four significant digits: more would be noise. */
function rounded(value: number | null | undefined): number | null {
  return value === undefined || value === null ? null : Number(value.toPrecision(4));
}
