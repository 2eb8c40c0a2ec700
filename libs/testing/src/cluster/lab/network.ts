import { configureNetwork } from './namespaces.js';

/**
 * The addresses of one cluster: an eighth of 198.18.0.0/15 (RFC 2544, for tests of networks, so that no real network
 * has them), 64 × 256 of them.
 *
 * 0 to 61: fake pods, counted up from the bottom. 62: pods of the real node. 63: the link between this machine (.1) and
 * the cluster (.2).
 */
export interface ClusterNetwork {
  readonly link: string;
  readonly hostAddress: string;
  readonly nodeAddress: string;
  readonly kwokNodeAddress: string;
  readonly podRange: string;
  readonly kwokRange: string;
}

/** Clusters that can run at once on one machine. */
const SLOTS = 8;

export const SERVICE_RANGE = '10.96.0.0/16';
export const SERVICE_ADDRESS = '10.96.0.1';

/**
 * Takes the first free slot and joins the namespace to this machine.
 * The name of the link is the lock: the kernel has it once, and takes it back when the namespace ends.
 *
 * @throws Error when all slots are taken.
 */
export async function joinNetwork(pid: number, options: { readonly services: boolean }): Promise<ClusterNetwork> {
  for (let slot = 0; slot < SLOTS; slot += 1) {
    const network = networkOf(slot);
    const { link, hostAddress, nodeAddress } = network;
    try {
      await configureNetwork([`link add ${link} type veth peer name node0 netns ${pid}`]);
    } catch (error) {
      if (/File exists/.test(String((error as { stderr?: string }).stderr))) continue;
      throw error;
    }
    await configureNetwork([`address add ${hostAddress}/30 dev ${link}`, `link set ${link} up`]);
    await configureNetwork(
      [
        'link set lo up',
        `address add ${nodeAddress}/30 dev node0`,
        'link set node0 up',
        // Nothing leaves the two of them.
        'route add unreachable default',
        ...(options.services ? [`route add ${SERVICE_RANGE} dev node0`] : []),
        // Every address of a fake pod is this network's own.
        ...['0.0/19', '32.0/20', '48.0/21', '56.0/22', '60.0/23'].map(
          (part) => `route add local ${partOf(slot, part)} dev lo`,
        ),
      ],
      pid,
    );
    await configureNetwork([`route add ${network.kwokRange} via ${nodeAddress} dev ${link}`]);
    return network;
  }
  throw new Error(`${SLOTS} test clusters run on this machine already: end one (npm run cluster -- status)`);
}

/**
 * Ends the link while the namespace is there still, so that it cannot be another's: by itself the kernel takes it back
 * some time after the namespace. What cannot be ended is left to that.
 */
export async function leaveNetwork({ link }: ClusterNetwork): Promise<void> {
  await configureNetwork([`link delete ${link}`]).catch(() => {});
}

function networkOf(slot: number): ClusterNetwork {
  return {
    link: `slipway${slot}`,
    hostAddress: partOf(slot, '63.1'),
    nodeAddress: partOf(slot, '63.2'),
    kwokNodeAddress: partOf(slot, '61.254'),
    podRange: partOf(slot, '62.0/24'),
    kwokRange: partOf(slot, '0.0/18'),
  };
}

/** `62.1` of slot 5 is 198.19.126.1. */
function partOf(slot: number, part: string): string {
  const [third = '0', ...rest] = part.split('.');
  const block = slot * 64 + Number(third);
  return `198.${18 + Math.floor(block / 256)}.${block % 256}.${rest.join('.')}`;
}
