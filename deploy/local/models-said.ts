import { readFileSync } from 'node:fs';

/** Most names on the line; the page has all of them. */
const MAX_NAMES = 5;

/**
 * The models that agents can have, as `npm start` prints them: of the file, of the variables, or else the demo. @throws
 * nothing: llm-gateway reports errors of a file.
 */
export function modelsSaid(
  env: Readonly<Record<string, string | undefined>>,
  read = (file: string): string => readFileSync(file, 'utf8'),
): string {
  const { LLM_BASE_URL: url, LLM_API_KEY: key, LLM_MODEL: model, LLM_MODELS_FILE: file } = env;
  const one = url || key ? [`${model || 'the default model'} at ${url || 'OpenAI'}`] : [];
  const listed = file ? namesIn(file, read) : [];
  const names = [...one, ...listed.filter((name) => name !== model)];
  if (names.length === 0)
    return file
      ? `those of ${file}`
      : 'the scripted demo model (set LLM_BASE_URL, LLM_API_KEY and LLM_MODEL, or LLM_MODELS_FILE, for real ones)';
  const shown = names.slice(0, MAX_NAMES).join(', ');
  return names.length > MAX_NAMES ? `${shown} and ${names.length - MAX_NAMES} more` : shown;
}

function namesIn(file: string, read: (file: string) => string): string[] {
  try {
    const { models } = JSON.parse(read(file)) as { models?: unknown };
    return (Array.isArray(models) ? models : []).flatMap((model: { name?: unknown } | null) =>
      typeof model?.name === 'string' ? [model.name] : [],
    );
  } catch {
    return [];
  }
}
