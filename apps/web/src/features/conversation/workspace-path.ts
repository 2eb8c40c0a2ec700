/**
 * What a reader needs of a place in a sandbox: where it is in the repository. What comes before differs in each
 * sandbox.
 */
export interface WorkspacePaths {
  /** A path, from the repository on; as it is when it is somewhere else. */
  readonly path: (path: string) => string;
  /** A command, with the repository's own paths short and without a first step into it. */
  readonly command: (command: string) => string;
}

/**
 * Sandboxes keep their work in a folder `workspace`, and the repository in a folder of it that has the repository's
 * name, `project` without one. A place that does not look so is shown whole.
 */
export function workspacePaths(repository: string | null): WorkspacePaths {
  const folder = `/workspace/${repositoryFolder(repository)}`;
  const end = `${escaped(folder)}(?![\\w.-])`;
  const whole = new RegExp(`^/(?:.*?/)??${end.slice(1)}/*`);
  // In quotes a path may hold blanks; outside it ends at what a shell reads as an end.
  const quoted = new RegExp(`(['"])(/[^'"\\n]*?)?${end}/?([^'"\\n]*)\\1`, 'g');
  const bare = new RegExp(`(?:/[^\\s'"\`;|&<>()=:]*?)?${end}(/?)`, 'g');
  const step = /^\s*cd (?:-- )?(['"]?)\.\1\s*(?:&&|;|\n)\s*/;
  return {
    path: (path) => {
      const short = path.replace(whole, '');
      return short === '' ? './' : short;
    },
    command: (command) => {
      if (!command.includes(folder)) return command;
      const short = command
        .replace(quoted, (_, mark: string, _before: string | undefined, rest: string) =>
          rest === '' ? '.' : `${mark}${rest}${mark}`,
        )
        .replace(bare, (_, slash: string) => (slash === '' ? '.' : ''));
      const rest = short.replace(step, '');
      return rest.trim() === '' ? short : rest;
    },
  };
}

/** As the start of a conversation names it: the last part of the address, with harmless letters only. */
export function repositoryFolder(repository: string | null): string {
  if (repository === null) return 'project';
  const last = repository.split(/[?#]/, 1)[0]?.split('/').filter(Boolean).at(-1) ?? '';
  return (
    decoded(last)
      .replace(/\.git$/i, '')
      .replaceAll(/[^A-Za-z0-9._-]/g, '-')
      .replace(/^[.-]+/, '')
      .slice(0, 100) || 'repository'
  );
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
