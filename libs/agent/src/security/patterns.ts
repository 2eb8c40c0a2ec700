/** A rule over the text of a command, with its sentence for the user who confirms. */
export interface Pattern {
  readonly test: RegExp;
  readonly says: string;
}

/** Where a command may begin: the start, after an operator, a substitution or a wrapper such as sudo. */
const START = String.raw`(?:^|[\n;&|(\`{]|\$\(|\b(?:sudo|doas|env|nohup|time|xargs|exec|command)\s)\s*(?:[\w./-]+/)?`;
const run = (program: string, rest = ''): RegExp => new RegExp(`${START}(?:${program})\\b${rest}`, 'im');

/** What destroys, sends away, or cannot be taken back. Own list; each has a case in analyze.test.ts. */
export const HIGH_PATTERNS: readonly Pattern[] = [
  {
    test: run(
      'rm',
      String.raw`(?=[^\n;|&]*\s-{1,2}[a-z-]*(?:r|recursive))[^\n;|&]*\s["']?(?:/|~|\$HOME|/\*|\.\.)(?:/?\*?["']?)(?=\s|$|[;|&])`,
    ),
    says: 'It deletes a whole tree outside of the project.',
  },
  { test: run('mkfs(?:\\.\\w+)?|wipefs|fdisk|parted|shred'), says: 'It erases a disk or a file beyond recovery.' },
  { test: run('dd', String.raw`[^\n;|&]*\bof=/dev/`), says: 'It writes to a device.' },
  { test: /:\s*\(\s*\)\s*\{\s*:\s*\|\s*:\s*&\s*\}\s*;\s*:/, says: 'It is a fork bomb.' },
  { test: run('shutdown|reboot|poweroff|halt'), says: 'It shuts the machine down.' },
  {
    test: /\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:[\w./-]*\/)?(?:ba|z|da|k)?sh\b/i,
    says: 'It runs code straight from the network.',
  },
  {
    test: /\b(?:curl|wget)\b[^\n]*\|\s*(?:sudo\s+)?(?:python3?|node|perl|ruby)\b/i,
    says: 'It runs code straight from the network.',
  },
  {
    test: /\b(?:ba|z|da)?sh\s+(?:-c\s+)?["']?(?:<\(|\$\()\s*(?:curl|wget)\b/i,
    says: 'It runs code straight from the network.',
  },
  {
    test: run('git', String.raw`\s+(?:-\S+\s+)*push\b[^\n;|&]*\s(?:-f|--force(?!-with-lease)|--mirror|--delete)\b`),
    says: 'It overwrites or deletes what others have in the repository.',
  },
  {
    test: run(
      'curl|wget|nc|ncat|scp|rsync',
      String.raw`[^\n;|&]*(?:\.ssh/|id_rsa|id_ed25519|\.aws/|\.netrc|\.git-credentials|/etc/shadow|\.env\b)`,
    ),
    says: 'It sends away a file that holds secrets.',
  },
  { test: /\b(?:env|printenv|set)\b\s*\|[^\n]*\b(?:curl|wget|nc|ncat)\b/i, says: 'It sends the environment away.' },
  { test: run('bash|sh|nc|ncat', String.raw`[^\n]*/dev/tcp/`), says: 'It opens a shell to another machine.' },
  { test: run('nc|ncat', String.raw`[^\n;|&]*\s-\w*e\b`), says: 'It opens a shell to another machine.' },
  {
    test: run('chmod', String.raw`[^\n;|&]*\s-\w*R\w*\s[^\n;|&]*\s/(?:\s|$)`),
    says: 'It changes the rights of the whole system.',
  },
  { test: run('(?:npm|pnpm|yarn)', String.raw`\s+publish\b`), says: 'It publishes a package.' },
  { test: run('twine', String.raw`\s+upload\b`), says: 'It publishes a package.' },
  { test: run('cargo|gem', String.raw`\s+(?:publish|push)\b`), says: 'It publishes a package.' },
  {
    test: run('kubectl|helm', String.raw`\s+(?:delete|drain|uninstall)\b`),
    says: 'It deletes something in a cluster.',
  },
  { test: run('terraform|tofu', String.raw`\s+(?:destroy|apply)\b`), says: 'It changes infrastructure.' },
  {
    test: run('psql|mysql|sqlite3|mongosh?', String.raw`[^\n]*\b(?:drop\s+(?:database|table|schema)|truncate)\b`),
    says: 'It deletes data in a database.',
  },
];

/** What changes more than the project's files, or reaches out. */
export const MEDIUM_PATTERNS: readonly Pattern[] = [
  { test: run('sudo|doas|su'), says: 'It acts as another user.' },
  {
    test: run('git', String.raw`\s+(?:-\S+\s+)*(?:push|reset\s+--hard|clean\s+-\w*f|checkout\s+--|restore\b)`),
    says: 'It publishes or throws away changes.',
  },
  { test: run('rm', String.raw`(?=[^\n;|&]*\s-{1,2}[a-z-]*(?:r|recursive))`), says: 'It deletes a folder.' },
  {
    test: run(
      'curl|wget',
      String.raw`[^\n;|&]*\s(?:-d|--data\S*|-F|--form|-T|--upload-file|--post-\S+|-X\s*(?:POST|PUT|DELETE|PATCH))\b`,
    ),
    says: 'It sends data to another machine.',
  },
  { test: run('ssh|scp|sftp|rsync|nc|ncat|telnet|ftp'), says: 'It connects to another machine.' },
  {
    test: run(
      'npm|pnpm|yarn|pip3?|uv|cargo|gem|go|apt-get|apt|apk|dnf|yum|brew',
      String.raw`\s+(?:install|add|i|get|ci)\b`,
    ),
    says: 'It installs packages, which may run code of others.',
  },
  { test: run('chmod|chown', String.raw`[^\n;|&]*\s(?:-\w*R|777)\b`), says: 'It changes the rights of many files.' },
  { test: run('kill|pkill|killall'), says: 'It ends other programs.' },
  { test: run('crontab|systemctl|service|iptables|nft|sysctl|mount|umount'), says: 'It changes the system.' },
  { test: run('docker|podman|kubectl|helm|aws|gcloud|az'), says: 'It acts on things outside of the sandbox.' },
  { test: run('eval'), says: 'It runs text that is made as it goes.' },
  { test: /\bbase64\s+(?:-d|--decode)\b[^\n]*\|\s*(?:ba|z|da)?sh\b/i, says: 'It runs hidden code.' },
  {
    test: />\s*["']?(?:\/etc\/|\/usr\/|\/boot\/|~\/\.(?:ssh|bashrc|profile|netrc))/,
    says: 'It writes to a file of the system or of the user.',
  },
];

/** Files whose change reaches further than the project's own text. */
export const MEDIUM_PATHS: readonly Pattern[] = [
  { test: /^\/(?:etc|usr|boot|bin|sbin|lib|opt|root)\//, says: 'It changes a file of the system.' },
  {
    test: /\/\.(?:ssh|aws|gnupg|kube)\/|\/\.(?:netrc|git-credentials|npmrc|pypirc|bashrc|profile)$/,
    says: 'It changes a file that holds secrets or runs at each start.',
  },
  { test: /\/\.git\/(?:hooks\/|config$)/, says: 'It changes what git runs.' },
  {
    test: /\/\.github\/workflows\/|\/\.gitlab-ci\.yml$|\/Jenkinsfile$/,
    says: 'It changes what the build server runs.',
  },
];
