/**
 * One line of a log as it goes over the wire: the event stays the text that was stored, so no reader pays for parsing
 * and writing it again.
 */
export interface LogLine {
  readonly seq: number;
  /** JSON of a `LoggedEvent`. */
  readonly json: string;
}

/** @param event JSON of the event, as stored. */
export function logLine(conversationId: string, seq: number, epoch: number, event: string): LogLine {
  return { seq, json: `{"conversationId":"${conversationId}","epoch":${epoch},"seq":${seq},"event":${event}}` };
}

/** Most events in one frame. */
const FRAME_EVENTS = 50;
/** A frame is closed when it holds this much. UTF-16 code units; a single longer event is a frame of its own. */
export const FRAME_LENGTH = 128 * 1024;

export interface Frame {
  /** JSON of an `EventsFrame`. */
  readonly json: string;
  /** `seq` of its last line. */
  readonly last: number;
}

/** Frames that hold the lines, in order. */
export function eventFrames(conversationId: string, lines: readonly LogLine[]): Frame[] {
  const frames: Frame[] = [];
  let open: LogLine[] = [];
  let length = 0;
  const close = (): void => {
    const last = open.at(-1);
    if (last !== undefined)
      frames.push({
        json: `{"conversationId":"${conversationId}","events":[${open.map(({ json }) => json).join(',')}]}`,
        last: last.seq,
      });
    open = [];
    length = 0;
  };
  for (const line of lines) {
    if (open.length === FRAME_EVENTS || (length > 0 && length + line.json.length > FRAME_LENGTH)) close();
    open.push(line);
    length += line.json.length;
  }
  close();
  return frames;
}

/** JSON of an `EventPage`. `nextAfter` is `null` at the end of the log. */
export function eventPage(lines: readonly LogLine[], after: number, head: number): string {
  const last = lines.at(-1)?.seq ?? after;
  return pageOf(lines, Math.max(head, last), lines.length > 0 && last < head ? last : null);
}

/** As `eventPage`, of lines that were chosen: a page that is not full has nothing behind it. */
export function kindPage(lines: readonly LogLine[], head: number, limit: number): string {
  const last = lines.at(-1)?.seq ?? 0;
  return pageOf(lines, Math.max(head, last), lines.length === limit ? last : null);
}

function pageOf(lines: readonly LogLine[], head: number, nextAfter: number | null): string {
  return `{"data":[${lines.map(({ json }) => json).join(',')}],"page":{"head":${head},"nextAfter":${nextAfter}}}`;
}
