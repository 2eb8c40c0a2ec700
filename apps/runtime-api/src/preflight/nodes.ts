/** What is read of a node; the API server writes more. */
export interface Node {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly images?: readonly { readonly names?: readonly string[] }[];
    readonly nodeInfo?: { readonly kernelVersion?: string };
    readonly runtimeHandlers?: readonly {
      readonly name?: string;
      readonly features?: { readonly userNamespaces?: boolean } | null;
    }[];
  };
}
/** What is read of a template of the chart. */
export interface WantedTemplate {
  readonly name: string;
  readonly image: string;
  readonly imagePullPolicy?: string | undefined;
  readonly nodeSelector?: Readonly<Record<string, string>> | undefined;
  readonly userNamespaces?: boolean | undefined;
  readonly runtimeClassName?: string | undefined;
}

/**
 * Missing requirements of these templates on the nodes, as sentences; empty when nothing. Nothing is asked of a node
 * that only lists its largest images: a sandbox image is among them.
 */
export function missingOfNodes(
  templates: readonly WantedTemplate[],
  nodes: readonly Node[],
  runtimeClasses: readonly string[],
): string[] {
  return templates.flatMap((template) => {
    const { name, image, runtimeClassName, nodeSelector = {} } = template;
    const suited = nodes.filter(
      ({ metadata, spec }) =>
        spec?.unschedulable !== true &&
        Object.entries(nodeSelector).every(([label, value]) => metadata.labels?.[label] === value),
    );
    if (suited.length === 0) {
      const labels = Object.entries(nodeSelector).map(([label, value]) => `${label}=${value}`);
      return [
        `sandboxes.templates ${name}: no node takes its sandboxes${labels.length === 0 ? '' : `; none that is schedulable has the labels ${labels.join(', ')}`}.`,
      ];
    }
    const missing: string[] = [];
    if (runtimeClassName !== undefined && !runtimeClasses.includes(runtimeClassName))
      missing.push(
        `sandboxes.templates ${name}: the cluster has no RuntimeClass ${runtimeClassName}${runtimeClasses.length === 0 ? '' : `, only ${runtimeClasses.join(', ')}`}.`,
      );
    const without = suited.filter((node) => !hasImage(node, image)).map(({ metadata }) => metadata.name);
    if (template.imagePullPolicy === 'Never' && without.length > 0)
      missing.push(
        `sandboxes.image: nothing pulls it (pullPolicy Never), and ${listed(without)} of ${suited.length} nodes do not have ${image}${otherNames(suited, image)}. Import it there (a node reports a new image within a minute), or name a registry.`,
      );
    else if (!namesRegistry(image) && without.length === suited.length)
      missing.push(
        `sandboxes.image: no node has ${image}, and it names no registry to pull it from${otherNames(suited, image)}. Set image.registry, or import it and set pullPolicy Never.`,
      );
    if (template.userNamespaces === true) {
      const unable = suited.filter((node) => !hasUserNamespaces(node)).map(({ metadata }) => metadata.name);
      if (unable.length > 0)
        missing.push(
          `sandboxes.templates ${name}: ${listed(unable)} of ${suited.length} nodes have no user namespaces. They need Linux 6.3 and containerd 2 (or CRI-O 1.25); or leave userNamespaces out.`,
        );
    }
    return missing;
  });
}

/** Where the digest lies under another name, which is the mistake that people make; "" when it does not. */
function otherNames(nodes: readonly Node[], image: string): string {
  const digest = image.split('@')[1];
  const names = nodes.flatMap(({ status }) => (status?.images ?? []).flatMap(({ names: all = [] }) => all));
  const other = digest === undefined ? undefined : names.find((name) => name.endsWith(`@${digest}`));
  return other === undefined ? '' : ` (the digest is there as ${other}: set sandboxes.image.repository to that name)`;
}

/** By its whole name: containerd searches nowhere else, so that the same digest under another name does not start. */
function hasImage(node: Node, image: string): boolean {
  return (node.status?.images ?? []).some(({ names = [] }) =>
    names.some((name) => wholeName(name) === wholeName(image)),
  );
}

/** As the node writes it: what names no registry is Docker Hub's, and there a name without a slash is of `library`. */
function wholeName(image: string): string {
  if (namesRegistry(image)) return image.replace(/^index\.docker\.io\//, 'docker.io/');
  return `docker.io/${image.includes('/') ? '' : 'library/'}${image}`;
}

/**
 * As container runtimes read it: a first part with a dot or a port, or localhost, is a host. What names none comes from
 * Docker Hub, where ours is not.
 */
function namesRegistry(image: string): boolean {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
}

/** The runtime says so since Kubernetes 1.31; what says nothing is judged by its kernel. */
function hasUserNamespaces({ status }: Node): boolean {
  const handlers = status?.runtimeHandlers;
  if (handlers !== undefined && handlers.length > 0)
    return handlers.some(({ features }) => features?.userNamespaces === true);
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(status?.nodeInfo?.kernelVersion ?? '') ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 3);
}

/** At most three names. */
const listed = (names: readonly string[]): string =>
  names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`;
