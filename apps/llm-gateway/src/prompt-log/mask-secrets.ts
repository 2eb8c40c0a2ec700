/** Forms of keys and tokens that people and providers use. What is masked stays recognisable by its beginning. */
const SECRETS = [
  /-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(?:-----END [A-Z ]*PRIVATE KEY-----|$)/g,
  /\b(?:sk|pk|rk|key|gsk|xai|slp|ghp|gho|ghu|ghs|ghr|github_pat|glpat|xox[abposr]|npm|pypi|hf|AKIA|ASIA|AIza)[-_]?[A-Za-z0-9_-]{12,}/g,
  /\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g,
  /(?<=\b[Bb]earer\s)[A-Za-z0-9._~+/-]{12,}=*/g,
  /(?<=:\/\/[^\s:/@"']{1,100}:)[^\s@"'/]{3,200}(?=@)/g,
  /(?<=(?:password|passwd|secret|api[_-]?key|access[_-]?token)\\?["']?\s{0,4}[:=]\s{0,4}\\?["']?)[^\s"'\\,;]{6,}/gi,
] as const;

/** The text with what resembles a secret masked. */
export function maskSecrets(text: string): string {
  return SECRETS.reduce((rest, form) => rest.replace(form, (found) => `${found.slice(0, 4)}[masked]`), text);
}
