import { type Skill, skillOfFile } from '@slipway/agent';
import type { ActionServerClient } from '../sandbox/action-server-client.js';

/** Files that are read at most, and the length of each and of all. Bytes. */
const MAX_FILES = 100;
const MAX_FILE = 60_000;
const MAX_ALL = 400_000;
/** A few small files. Seconds. */
const TIMEOUT_S = 10;

/** Prints each file as `path content`, both in base64. Links are not followed: a skill is a file of the workspace. */
const SCRIPT = `export LC_ALL=C
left=${MAX_ALL}
for place in .openhands/skills .openhands/microagents .agents/skills; do
  [ -d "$place" ] && [ ! -L "$place" ] || continue
  find "$place" -maxdepth 3 -type f -name '*.md' -size -${Math.ceil(MAX_FILE / 1024)}k 2>/dev/null | sort | head -n ${MAX_FILES}
done | head -n ${MAX_FILES} | while IFS= read -r file; do
  size=$(wc -c < "$file") || continue
  [ "$size" -le "$left" ] || continue
  left=$((left - size))
  printf '%s %s\\n' "$(printf %s "$file" | base64 | tr -d '\\n')" "$(base64 < "$file" | tr -d '\\n')"
done`;

/**
 * The skills of the workspace, read by the sandbox's own user. Nothing that comes back is trusted beyond being told to the agent. A workspace that cannot be read has none:
 * the agent can work without.
 */
export async function readSkillFiles(actionServer: ActionServerClient, directory: string, signal: AbortSignal): Promise<Skill[]> {
  try {
    const { stdout } = await actionServer.runCommand({ command: SCRIPT, cwd: directory, timeout: TIMEOUT_S }, signal);
    return stdout.split('\n').flatMap((line) => {
      const [path, content] = line.split(' ');
      if (path === undefined || content === undefined) return [];
      const name = text(path);
      // Only a folder's own SKILL.md is a skill; what lies deeper belongs to it.
      if (name.split('/').length > 3 && !name.endsWith('/SKILL.md')) return [];
      return skillOfFile(name, text(content).slice(0, MAX_FILE)) ?? [];
    });
  } catch {
    return [];
  }
}

function text(base64: string): string {
  return Buffer.from(base64, 'base64').toString('utf8');
}
