import { type Skill, skillOfFile } from '@slipway/agent';
import { HookConfig } from '@slipway/contracts/events';
import type { ActionServerClient } from '../sandbox/action-server-client.js';

/** Files that are read at most, and the length of each and of all. Bytes. */
const MAX_FILES = 100;
const MAX_FILE = 60_000;
const MAX_ALL = 400_000;
/** A few small files. Seconds. */
const TIMEOUT_S = 10;

const HOOKS_FILE = '.openhands/hooks.json';

/** Prints each file as `path content`, both in base64. Links are not followed: a skill is a file of the workspace. */
const SCRIPT = `export LC_ALL=C
left=${MAX_ALL}
{
[ ! -f ${HOOKS_FILE} ] || [ -L ${HOOKS_FILE} ] || echo ${HOOKS_FILE}
for place in .openhands/skills .openhands/microagents .agents/skills; do
  [ -d "$place" ] && [ ! -L "$place" ] || continue
  find "$place" -maxdepth 3 -type f -name '*.md' 2>/dev/null | sort | head -n ${MAX_FILES}
done
} | head -n ${MAX_FILES} | while IFS= read -r file; do
  size=$(wc -c < "$file") || continue
  [ "$size" -le ${MAX_FILE} ] && [ "$size" -le "$left" ] || continue
  left=$((left - size))
  printf '%s %s\\n' "$(printf %s "$file" | base64 | tr -d '\\n')" "$(base64 < "$file" | tr -d '\\n')"
done`;

export interface WorkspaceFiles {
  readonly skills: readonly Skill[];
  /** `null`: there are none, or they cannot be read as such. */
  readonly hooks: HookConfig | null;
}

/**
 * Skills and hooks of the workspace, read by the sandbox's own user. Their content is trusted only as input of the
 * agent, or run in the sandbox. A workspace that cannot be read has none: the agent can work without.
 */
export async function readWorkspaceFiles(
  actionServer: ActionServerClient,
  directory: string,
  signal: AbortSignal,
): Promise<WorkspaceFiles> {
  try {
    const { stdout } = await actionServer.runCommand({ command: SCRIPT, cwd: directory, timeout: TIMEOUT_S }, signal);
    const files = stdout.split('\n').flatMap((line) => {
      const [path, content] = line.split(' ');
      return path === undefined || content === undefined
        ? []
        : [{ path: text(path), content: text(content).slice(0, MAX_FILE) }];
    });
    const hooks = files.find(({ path }) => path === HOOKS_FILE);
    return {
      skills: files.flatMap(({ path, content }) => {
        // Only a folder's own SKILL.md is a skill; what lies deeper belongs to it.
        if (path === HOOKS_FILE || (path.split('/').length > 3 && !path.endsWith('/SKILL.md'))) return [];
        return skillOfFile(path, content) ?? [];
      }),
      hooks: hooks === undefined ? null : (HookConfig.safeParse(parsed(hooks.content)).data ?? null),
    };
  } catch {
    return { skills: [], hooks: null };
  }
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

function text(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
