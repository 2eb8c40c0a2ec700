/** A shorter form would be found where it is not meant. UTF-16 code units. */
const MIN_FORM = 7;
/** A shorter line of a value with many is not a secret of its own. UTF-16 code units. */
const MIN_LINE = 8;
/** Where tools break the lines of base64. */
const BASE64_LINES = [76, 64];

/**
 * The forms in which programs print a value without meaning to show it: as it is, in a URL, in JSON, in base64 at any
 * place, in hex, and line by line.
 */
export function formsOf(value: string): ReadonlySet<string> {
  const forms = new Set<string>([value]);
  const add = (form: string, least = MIN_FORM): void => {
    if (form.length >= least) forms.add(form);
  };
  add(value.trim(), 6);
  add(JSON.stringify(value).slice(1, -1));
  for (const form of urlForms(value)) add(form);
  const bytes = Buffer.from(value, 'utf8');
  add(bytes.toString('hex'));
  add(bytes.toString('hex').toUpperCase());
  for (const form of base64Forms(bytes)) {
    add(form);
    add(form.replaceAll('+', '-').replaceAll('/', '_'));
  }
  if (/[\r\n]/.test(value)) {
    add(value.replaceAll(/\r?\n/g, '\r\n'));
    add(value.replaceAll(/\r\n/g, '\n'));
    // The frame of a key is no secret, and stands in many files.
    for (const line of value.split(/\r?\n/)) if (!/^-----(BEGIN|END) /.test(line)) add(line.trim(), MIN_LINE);
  }
  return forms;
}

function urlForms(value: string): string[] {
  // A lone surrogate, which no URL can hold.
  if (!value.isWellFormed()) return [];
  const encoded = encodeURIComponent(value);
  const strict = encoded.replaceAll(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
  const forms = [encoded, strict, strict.replaceAll('%20', '+')];
  return [...forms, ...forms.map((form) => form.replaceAll(/%[0-9A-F]{2}/g, (code) => code.toLowerCase()))];
}

/**
 * Base64 of a longer text has a value's own characters in one of three ways; those at its ends are mixed with its
 * neighbours and left out.
 */
function base64Forms(bytes: Buffer): string[] {
  const forms = [0, 1, 2].map((offset) => {
    const text = Buffer.concat([Buffer.alloc(offset), bytes]).toString('base64');
    return text.slice([0, 2, 3][offset], Math.floor(((offset + bytes.length) * 8) / 6));
  });
  const whole = bytes.toString('base64');
  return [
    ...forms,
    ...BASE64_LINES.flatMap((width) =>
      whole.length > width ? (whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? []) : [],
    ),
  ];
}
