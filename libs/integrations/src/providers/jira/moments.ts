/**
 * Milliseconds since 1970 of what Jira writes: such a number, or `2026-12-01T10:00:00.000+0000`. `NaN` for what is
 * neither.
 */
export function timeOf(value: string): number {
  return /^\d{10,16}$/.test(value) ? Number(value) : Date.parse(value.replace(/([+-]\d\d)(\d\d)$/, '$1:$2'));
}
