/** What is read of a node; the API server writes more. */
export interface Node {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec?: { readonly unschedulable?: boolean };
  readonly status?: {
    readonly images?: readonly { readonly names?: readonly string[] }[];
    readonly nodeInfo?: { readonly kernelVersion?: string };
    readonly runtimeHandlers?: readonly { readonly name?: string; readonly features?: { readonly userNamespaces?: boolean } | null }[];
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

/** What the nodes lack for these templates, as sentences; empty when nothing. Nothing is asked of a node that only lists its largest images: a sandbox image is among them. */
export function lacksOfNodes(templates: readonly WantedTemplate[], nodes: readonly Node[], runtimeClasses: readonly string[]): string[] {
  return templates.flatMap((template) => {
    const { name, image, runtimeClassName, nodeSelector = {} } = template;
    const suited = nodes.filter(
      ({ metadata, spec }) => spec?.unschedulable !== true && Object.entries(nodeSelector).every(([label, value]) => metadata.labels?.[label] === value),
    );
    if (suited.length === 0) {
      const labels = Object.entries(nodeSelector).map(([label, value]) => `${label}=${value}`);
      return [
        `sandboxes.templates ${name}: no node takes its sandboxes${labels.length === 0 ? '' : `; none that is schedulable has the labels ${labels.join(', ')}`}.`,
      ];
    }
    const lacks: string[] = [];
    if (runtimeClassName !== undefined && !runtimeClasses.includes(runtimeClassName))
      lacks.push(
        `sandboxes.templates ${name}: the cluster has no RuntimeClass ${runtimeClassName}${runtimeClasses.length === 0 ? '' : `, only ${runtimeClasses.join(', ')}`}.`,
      );
    const without = suited.filter((node) => !hasImage(node, image)).map(({ metadata }) => metadata.name);
    if (template.imagePullPolicy === 'Never' && without.length > 0)
      lacks.push(
        `sandboxes.image: nothing pulls it (pullPolicy Never), and ${listed(without)} of ${suited.length} nodes do not have ${image}. Import it there (a node tells of a new image within a minute), or name a registry.`,
      );
    else if (!namesRegistry(image) && without.length === suited.length)
      lacks.push(`sandboxes.image: no node has ${image}, and it names no registry to pull it from. Set image.registry, or import it and set pullPolicy Never.`);
    if (template.userNamespaces === true) {
      const unable = suited.filter((node) => !hasUserNamespaces(node)).map(({ metadata }) => metadata.name);
      if (unable.length > 0)
        lacks.push(
          `sandboxes.templates ${name}: ${listed(unable)} of ${suited.length} nodes have no user namespaces. They need Linux 6.3 and containerd 2 (or CRI-O 1.25); or leave userNamespaces out.`,
        );
    }
    return lacks;
  });
}

/** A digest is the image whatever it is called; an archive that was imported may bear another name. */
function hasImage(node: Node, image: string): boolean {
  const digest = image.split('@')[1];
  return (node.status?.images ?? []).some(({ names = [] }) => names.some((name) => name === image || (digest !== undefined && name.endsWith(`@${digest}`))));
}

/** As container runtimes read it: a first part with a dot or a port, or localhost, is a host. What names none comes from Docker Hub, where ours is not. */
function namesRegistry(image: string): boolean {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && (/[.:]/.test(first) || first === 'localhost');
}

/** The runtime says so since Kubernetes 1.31; what says nothing is judged by its kernel. */
function hasUserNamespaces({ status }: Node): boolean {
  const told = status?.runtimeHandlers;
  if (told !== undefined && told.length > 0) return told.some(({ features }) => features?.userNamespaces === true);
  const [, major = '0', minor = '0'] = /^(\d+)\.(\d+)/.exec(status?.nodeInfo?.kernelVersion ?? '') ?? [];
  return Number(major) > 6 || (Number(major) === 6 && Number(minor) >= 3);
}

/** At most three names. */
const listed = (names: readonly string[]): string => (names.length <= 3 ? names.join(', ') : `${names.slice(0, 3).join(', ')} and ${names.length - 3} more`);
