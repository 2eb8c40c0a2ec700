import type { ActionServerClient } from './action-server-client.js';

/** A skill as `POST /api/skills` answers it. */
export interface ProjectSkill {
  readonly name: string;
  readonly type: 'repo' | 'knowledge' | 'agentskills';
  readonly content: string;
  readonly triggers: readonly string[];
  readonly source: string;
  readonly description: string | null;
  readonly is_agentskills_format: boolean;
  readonly disable_model_invocation: boolean;
}

/** Longest file that is read. Bytes. */
const MAX_BYTES = 64 * 1024;
const MAX_FILES = 100;
const READ_SECONDS = 20;
/** One line a file: its path, a tab, its text in base64. */
const SCRIPT = `
for file in AGENTS.md CLAUDE.md GEMINI.md .cursorrules .openhands/skills/*.md .openhands/microagents/*.md .agents/skills/*.md .openhands/skills/*/SKILL.md .agents/skills/*/SKILL.md; do
  [ -f "$file" ] && printf '%s\\t%s\\n' "$file" "$(head -c ${MAX_BYTES} -- "$file" | base64 | tr -d '\\n')"
done | head -n ${MAX_FILES}`;

/**
 * Instructions of a project: AGENTS.md and its like always, skills by their trigger words. @throws SlipwayError
 * `sandbox.tool-unavailable`.
 */
export async function readProjectSkills(
  actionServer: ActionServerClient,
  directory: string,
  signal: AbortSignal,
): Promise<ProjectSkill[]> {
  const { stdout } = await actionServer.runCommand({ command: SCRIPT, cwd: directory, timeout: READ_SECONDS }, signal);
  return stdout
    .split('\n')
    .filter((line) => line.includes('\t'))
    .map((line) =>
      skillOf(
        line.slice(0, line.indexOf('\t')),
        Buffer.from(line.slice(line.indexOf('\t') + 1), 'base64').toString('utf8'),
      ),
    );
}

/** @param text may begin with a head of `name:`, `description:` and `triggers:` between two lines of three dashes. */
function skillOf(source: string, text: string): ProjectSkill {
  const head = /^---\r?\n([\s\S]*?)\r?\n---\r?\n?/.exec(text);
  const lines = head?.[1]?.split(/\r?\n/) ?? [];
  const one = (key: string): string | null =>
    unquoted(lines.find((line) => line.startsWith(`${key}:`))?.slice(key.length + 1)) ?? null;
  const triggers = listOf(lines, 'triggers');
  const agentSkill = source.endsWith('/SKILL.md');
  return {
    name:
      one('name') ??
      (agentSkill ? source.split('/').at(-2) : source.split('/').at(-1)?.replace(/\.md$/, '').toLowerCase()) ??
      source,
    type: agentSkill ? 'agentskills' : triggers.length > 0 ? 'knowledge' : 'repo',
    content: head === null ? text : text.slice(head[0].length),
    triggers,
    source,
    description: one('description'),
    is_agentskills_format: agentSkill,
    disable_model_invocation: one('disable-model-invocation') === 'true',
  };
}

/** Both forms of a list: `key: [a, b]`, and one item a line. */
function listOf(lines: readonly string[], key: string): string[] {
  const at = lines.findIndex((line) => line.startsWith(`${key}:`));
  if (at === -1) return [];
  const inline = /^\[(.*)\]$/.exec((lines[at] as string).slice(key.length + 1).trim())?.[1];
  const rest = lines.slice(at + 1);
  const end = rest.findIndex((line) => !/^\s*-\s/.test(line));
  const items =
    inline === undefined
      ? rest.slice(0, end === -1 ? rest.length : end).map((line) => line.replace(/^\s*-\s/, ''))
      : inline.split(',');
  return items.map((item) => unquoted(item) ?? '').filter((item) => item !== '');
}

function unquoted(value: string | undefined): string | undefined {
  return value?.trim().replace(/^(['"])(.*)\1$/, '$2');
}
