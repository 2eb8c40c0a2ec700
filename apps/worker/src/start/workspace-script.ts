/**
 * Shell text for the workspace, and what it prints. The sandbox is not ours any more once an agent ran in it: nothing
 * that comes back is trusted beyond being shown.
 */

import type { HandedOver } from './granted-secrets.js';

/** Most text of AGENTS.md and skills that is read. Bytes. */
const MAX_SKILL_BYTES = 50_000;
const MAX_SKILL_FILES = 50;
/**
 * Commits of the history that come along; `git fetch --unshallow` brings the others, and `git fetch` any other branch.
 */
const DEPTH = 50;
/** The mark of a workspace that is not ready. */
const UNFINISHED = '.git/slipway-unfinished';

export interface WorkspacePlan {
  /** Absolute, in the sandbox. */
  readonly directory: string;
  readonly repository: string | null;
  readonly branch: string | null;
}

export interface WorkspaceReport {
  /** Commit (or the empty tree) that the work begins from; `null` when git cannot say. */
  readonly base: string | null;
  /** True when the workspace was made just now. */
  readonly fresh: boolean;
  /** Setup script that has yet to run. */
  readonly setup: string | null;
  /** `none`: the repository brings no hook. */
  readonly hook: 'none' | 'installed' | 'kept';
  readonly files: ReadonlyArray<{ path: string; text: string }>;
  /** True when files were left out or cut. */
  readonly cut: boolean;
  /** True when hook and skills were handled, which waits for the setup script. */
  readonly complete: boolean;
}

/** One argument of a POSIX shell, whatever it holds. */
export function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** Name of the directory for a repository: the last segment of its path, made harmless. */
export function repositoryName(url: string): string {
  const last = new URL(url).pathname.split('/').filter(Boolean).at(-1) ?? '';
  const name = decode(last)
    .replace(/\.git$/i, '')
    .replaceAll(/[^A-Za-z0-9._-]/g, '-')
    .replace(/^[.-]+/, '')
    .slice(0, 100);
  return name === '' ? 'repository' : name;
}

/**
 * Makes the workspace if it is not there, and reports on it. Repeatable at any point: a clone goes to a directory
 * beside it and is moved in one step, so what stands at `directory` is whole. A mark in .git says that no agent has had
 * it yet: it is then made again, since the repository may have been corrected and a setup script that failed may have
 * left anything behind. Exits with git's own status when git fails, with its words on stderr. git authenticates with
 * the credentials that the sandbox got (agent-server's `git-credentials.ts`), or not at all: no helper of the image is
 * asked. git mistakes any page of a web server for an empty repository: one without a commit, or without the branch,
 * must have spoken git's protocol. One at a time, where the sandbox has `flock`: a command whose worker has gone may
 * still be ending, and git, which holds the lock as well, then removes what it has begun.
 */
export function prepareScript({ directory, repository, branch }: WorkspacePlan): string {
  const make =
    repository === null
      ? `git init -q -- "$tmp" && git -C "$tmp" -c user.name=Slipway -c user.email=agent@slipway.invalid -c maintenance.auto=false -c gc.auto=0 commit -q --no-verify --allow-empty -m 'Empty workspace' || exit $?`
      : `clone=${quote(repository)}
  fetch() { git $helpers -c core.askPass= -c http.lowSpeedLimit=1000 -c http.lowSpeedTime=60 "$@"; }
  status=$( { { fetch clone --progress --depth ${DEPTH}${branch === null ? '' : ` --branch ${quote(branch)}`} -- "$clone" "$tmp" 2>&1 >/dev/null 4>&-; echo "$?" >&4; } |
    tee -- "$tmp.log" | tr '\\r' '\\n' | tail -c 8000 >&2; } 4>&1 )
  doubtful=
  if [ "$status" = 0 ]; then git -C "$tmp" rev-parse --verify -q HEAD >/dev/null || doubtful=1
  elif grep -q 'Remote branch .* not found' "$tmp.log"; then doubtful=1; fi
  rm -f -- "$tmp.log"
  case $doubtful$clone in 1http:*|1https:*)
    if ! GIT_TRACE_PACKET=1 fetch ls-remote -- "$clone" 2>&1 | grep -q 'packet:'; then
      rm -rf -- "$tmp"
      echo 'fatal: what answers there is no git server' >&2
      exit 128
    fi
  esac
  [ "$status" = 0 ] || exit "\${status:-1}"
  git -C "$tmp" config remote.origin.fetch '+refs/heads/*:refs/remotes/origin/*' || exit 1`;
  return `set -u
export GIT_TERMINAL_PROMPT=0 GIT_ASKPASS= SSH_ASKPASS= LC_ALL=C
helpers='-c credential.helper='
[ -z "\${GIT_CONFIG_COUNT:-}" ] || helpers=
dir=${quote(directory)}
tmp=${quote(unfinished(directory))}
[ -d "\${dir%/*}/" ] || mkdir -p -- "\${dir%/*}/" || exit 1
{ exec 9<"\${dir%/*}/"; } 2>/dev/null && flock 9 2>/dev/null
unlock() { flock -u 9 2>/dev/null || :; }
if [ -e "$dir/${UNFINISHED}" ]; then rm -rf -- "$dir" || exit 1; fi
if [ ! -e "$dir" ]; then
  [ ! -e "$tmp" ] || rm -rf -- "$tmp" || exit 1
  ${make}
  git -C "$tmp" config user.email >/dev/null || printf '[user]\\n\\tname = Slipway agent\\n\\temail = agent@slipway.invalid\\n' >> "$tmp/.git/config"
  : > "$tmp/${UNFINISHED}" || exit 1
  mv -- "$tmp" "$dir" && echo slipway:fresh=1 || exit 1
fi
cd -- "$dir" || exit 1
printf 'slipway:base=%s\\n' "$(git rev-parse --verify -q HEAD || git hash-object -t tree /dev/null)"
setup=
for each in .openhands/setup.sh .slipway/setup.sh; do [ -z "$setup" ] && [ -f "$each" ] && setup=$each; done
if [ -n "$setup" ] && [ -e ${UNFINISHED} ]; then printf 'slipway:setup=%s\\n' "$setup"; unlock; exit 0; fi
${FINISH}
unlock`;
}

/** Where a clone is made, beside where it will stand. */
function unfinished(directory: string): string {
  const name = directory.lastIndexOf('/') + 1;
  return `${directory.slice(0, name)}.slipway-new-${directory.slice(name)}`;
}

/** Prints the end of what git says of the clone that `prepareScript` makes; nothing when there is none. */
export function progressScript({ directory }: WorkspacePlan): string {
  return `tail -c 400 -- ${quote(`${unfinished(directory)}.log`)} 2>/dev/null | tr '\\r' '\\n'`;
}

const PROGRESS =
  /^(?:remote: )?(?:Enumerating|Counting|Compressing|Receiving|Resolving|Updating) (?:objects|deltas|files): +[^\p{C}]{1,100}$/u;

/** The newest of git's lines that say how far it is; `null` when it has said none. */
export function progressOf(stdout: string): string | null {
  const lines = stdout.split('\n').map((line) => line.trim());
  return (
    lines
      .findLast((line) => PROGRESS.test(line))
      ?.replace(/^remote: /, '')
      .replaceAll(/ {2,}/g, ' ') ?? null
  );
}

/** Hook and skills, after the setup script. */
export function finishScript(directory: string): string {
  return `set -u\nexport LC_ALL=C\ncd -- ${quote(directory)} || exit 1\n${FINISH}`;
}

/** Runs once for a workspace: before an agent has it. */
export function setupScript(script: string): string {
  return `bash ${quote(script)}`;
}

const HOOK = `#!/bin/sh
# slipway: the repository's own check, then the hook that was here before.
set -e
[ ! -f .openhands/pre-commit.sh ] || bash .openhands/pre-commit.sh
before="$(git rev-parse --git-path hooks/pre-commit.local)"
[ ! -x "$before" ] || exec "$before" "$@"
`;

const FINISH = `if [ -f .openhands/pre-commit.sh ] && [ -d .git ]; then
  mkdir -p .git/hooks
  if grep -q '^# slipway:' .git/hooks/pre-commit 2>/dev/null; then echo slipway:hook=kept
  else
    [ ! -e .git/hooks/pre-commit ] || mv -f .git/hooks/pre-commit .git/hooks/pre-commit.local
    printf '%s' ${quote(HOOK)} > .git/hooks/pre-commit && chmod +x .git/hooks/pre-commit && echo slipway:hook=installed
  fi
fi
left=${MAX_SKILL_BYTES}
emit() {
  if [ "$left" -le 0 ]; then echo slipway:cut=1; return 0; fi
  size=$(wc -c < "$1") || return 0
  if [ "$size" -gt "$left" ]; then size=$left; echo slipway:cut=1; fi
  printf 'slipway:file=%s %s\\n' "$(printf %s "$1" | base64 | tr -d '\\n')" "$(head -c "$size" "$1" | base64 | tr -d '\\n')"
  left=$((left - size))
}
[ ! -f AGENTS.md ] || emit AGENTS.md
for skills in .openhands/skills .agents/skills; do
  [ -d "$skills" ] && find "$skills" -type f -name '*.md' | sort | head -n ${MAX_SKILL_FILES} > .git/slipway-skills 2>/dev/null || continue
  while IFS= read -r file; do emit "$file"; done < .git/slipway-skills
done
rm -f .git/slipway-skills ${UNFINISHED}
echo slipway:complete=1`;

/** What `prepareScript` or `finishScript` printed. Lines that are not theirs are passed over. */
export function parseReport(stdout: string): WorkspaceReport {
  const lines = stdout.split('\n').flatMap((line) => {
    const match = /^slipway:([a-z]+)=(.*)$/.exec(line);
    return match ? [[match[1] as string, match[2] as string] as const] : [];
  });
  const last = (key: string): string | null => lines.findLast(([name]) => name === key)?.[1] ?? null;
  const hook = last('hook');
  const base = last('base');
  return {
    base: base !== null && /^[0-9a-f]{40,64}$/.test(base) ? base : null,
    fresh: last('fresh') !== null,
    setup: last('setup'),
    hook: hook === 'installed' || hook === 'kept' ? hook : 'none',
    files: lines.flatMap(([name, value]) => {
      if (name !== 'file') return [];
      const [file = '', content = ''] = value.split(' ');
      return [
        { path: Buffer.from(file, 'base64').toString('utf8'), text: Buffer.from(content, 'base64').toString('utf8') },
      ];
    }),
    cut: last('cut') !== null,
    complete: last('complete') !== null,
  };
}

/** Notes for the agent on the workspace and its secrets, besides its own system prompt. */
export function systemMessageSuffix(
  plan: WorkspacePlan,
  report: WorkspaceReport,
  { variables, places }: Pick<HandedOver, 'variables' | 'places'>,
): string {
  const where =
    plan.repository === null
      ? `Work in ${plan.directory}, an empty git repository.`
      : `The repository ${plan.repository} is in ${plan.directory}. Work there.`;
  const secrets = variables.map(({ name, description }) => `- ${name}${description === '' ? '' : `: ${description}`}`);
  // What has a heading of its own is a skill that agent-server reads: its triggers decide when the agent gets it.
  const instructions = report.files.filter(
    ({ path, text }) => path === 'AGENTS.md' || !/^\uFEFF?---[ \t]*\r?\n/.test(text),
  );
  const files = instructions.map((file) => `<file path="${file.path.replaceAll('"', '')}">\n${file.text}\n</file>`);
  return [
    where,
    ...(secrets.length === 0
      ? []
      : [
          `These environment variables hold secrets. Use them by name in commands; you are shown <secret:NAME> wherever one is printed.\n${secrets.join('\n')}`,
        ]),
    ...(places.length === 0
      ? []
      : [
          `Requests to these hosts are given their credential outside of the sandbox. Send them over https, with no credential of your own but a variable from above:\n${places.join('\n')}`,
        ]),
    ...(files.length === 0 ? [] : ['The repository brings these instructions and skills:', ...files]),
    ...(files.length > 0 && report.cut ? ['(More of them were left out for their length; read the files.)'] : []),
  ].join('\n\n');
}

/**
 * Notice for an agent whose workspace is gone, visible to its user. agent-server drops it for an agent that never
 * worked.
 */
export function lossNotice(plan: WorkspacePlan): string {
  const now =
    plan.repository === null
      ? `${plan.directory} is an empty git repository again`
      : `${plan.repository} was cloned again into ${plan.directory}, and set up`;
  return `The sandbox of this conversation was lost, and with it all work that was not pushed: files, commits, programs that ran. ${now}. Look at what is there before you go on, and do again what is missing.`;
}

/**
 * Notice for an agent whose files were brought back from a checkpoint.
 * @param later whether the log goes on behind it.
 */
export function restoreNotice(plan: WorkspacePlan, later: boolean): string {
  const missing = later ? ' They are as they were when you last stopped: what commands did after that is gone.' : '';
  return `The sandbox of this conversation was lost, and another one has taken its place. The files in ${plan.directory} and in your home folder were restored.${missing} Programs that ran have ended, and caches and dependencies may be missing. Look at what is there before you go on.`;
}

/** Notice for the agent of a fork: it has another sandbox than its log tells of. */
export function forkNotice(plan: WorkspacePlan): string {
  return `This conversation was forked from another one, and has a sandbox of its own. The files in ${plan.directory} and in your home folder are as they were then. Programs that ran there are not running here, and caches and dependencies may be missing.`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
