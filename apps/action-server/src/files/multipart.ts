import { SlipwayError } from '@slipway/errors';

/** Most bytes of a part's header lines. */
const MAX_HEADER = 16 * 1024;

/** The boundary of a `multipart/form-data` content type, or `undefined` when it is something else. */
export function multipartBoundary(contentType: string | undefined): string | undefined {
  const match = /^multipart\/form-data\s*;.*?\bboundary=(?:"([^"]{1,70})"|([^\s;]{1,70}))/i.exec(contentType ?? '');
  return match?.[1] ?? match?.[2];
}

/**
 * The bytes of the field `file` of a form, as they arrive; other fields are passed over. Holds no more than one chunk
 * and a boundary.
 * @throws SlipwayError `request.invalid` for a form that is cut off or has no such field.
 */
export async function* fileOfForm(body: AsyncIterable<Buffer>, boundary: string): AsyncGenerator<Buffer> {
  const delimiter = Buffer.from(`\r\n--${boundary}`);
  // The first delimiter has no line before it.
  let rest: Buffer = Buffer.from('\r\n');
  let state: 'before-delimiter' | 'header' | 'file' | 'done' = 'before-delimiter';
  let found = false;
  for await (const chunk of body) {
    rest = Buffer.concat([rest, chunk]);
    while (state !== 'done') {
      if (state === 'header') {
        // After a delimiter: `--` ends the form, else come header lines and an empty one.
        if (rest.subarray(0, 2).toString() === '--') {
          state = 'done';
          break;
        }
        const end = rest.indexOf('\r\n\r\n');
        if (end < 0 && rest.length > MAX_HEADER) throw malformed();
        if (end < 0) break;
        const wanted: boolean =
          !found &&
          /^content-disposition:[^\n]*;\s*name="?file"?\s*(?:;|\r|$)/im.test(rest.subarray(0, end).toString());
        found ||= wanted;
        state = wanted ? 'file' : 'before-delimiter';
        rest = rest.subarray(end + 4);
      }
      const at = rest.indexOf(delimiter);
      const end = at < 0 ? Math.max(0, rest.length - delimiter.length + 1) : at;
      if (state === 'file' && end > 0) yield rest.subarray(0, end);
      rest = rest.subarray(at < 0 ? end : at + delimiter.length);
      if (at < 0) break;
      state = 'header';
    }
    if (state === 'done') rest = Buffer.alloc(0);
  }
  if (!found || state !== 'done') throw malformed();
}

function malformed(): SlipwayError {
  return new SlipwayError('request.invalid', 'The form is cut off, or has no field `file`.');
}
