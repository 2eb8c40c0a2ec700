import { BlockList, isIP } from 'node:net';

/**
 * Metadata services of clouds, which give out credentials: never reachable from a sandbox. Addresses, ranges and where
 * each is documented. What lies in a range that is private anyway is named all the same, in case that range is
 * permitted.
 */
export const METADATA_RANGES = [
  // AWS (docs.aws.amazon.com/AWSEC2 instancedata-data-retrieval; ECS task role 169.254.170.2; EKS pod identity
  // 169.254.170.23), Google, Azure, Oracle, DigitalOcean (docs.digitalocean.com how-to/access-metadata), OpenStack
  // (docs.openstack.org/nova metadata-service), Hetzner, Tencent 169.254.0.23, Scaleway 169.254.42.42.
  { network: '169.254.0.0', prefix: 16, family: 'ipv4' },
  // OpenStack since Victoria and Linode: fe80::a9fe:a9fe (docs.openstack.org/nova metadata-service).
  { network: 'fe80::', prefix: 10, family: 'ipv6' },
  // AWS: metadata fd00:ec2::254, EKS pod identity fd00:ec2::23 (docs.aws.amazon.com/eks pod-id-agent-setup), DNS ::253,
  // time ::123.
  { network: 'fd00:ec2::', prefix: 32, family: 'ipv6' },
  // Google, machines with IPv6 alone (cloud.google.com/compute/docs/metadata/querying-metadata).
  { network: 'fd20:ce::254', prefix: 128, family: 'ipv6' },
  // Azure: the host agent ("WireServer"), a public address (learn.microsoft.com what-is-ip-address-168-63-129-16).
  { network: '168.63.129.16', prefix: 32, family: 'ipv4' },
  // Alibaba (cloud-init's datasource AliYun; www.alibabacloud.com/help/en/ecs view-instance-metadata).
  { network: '100.100.100.200', prefix: 32, family: 'ipv4' },
  { network: 'fd00:100::100:200', prefix: 128, family: 'ipv6' },
  // Oracle: IPv6 (its SDK's instance_principals_security_token_signer), and Classic.
  { network: 'fd00:c1::a9fe:a9fe', prefix: 128, family: 'ipv6' },
  { network: '192.0.0.192', prefix: 32, family: 'ipv4' },
  // Scaleway and Akamai, formerly Linode (cloud-init's datasources).
  { network: 'fd00:42::42', prefix: 128, family: 'ipv6' },
  { network: 'fd00:a9fe:a9fe::1', prefix: 128, family: 'ipv6' },
] as const;

/** Names that such a service has, for who leaves the lookup to a proxy. */
const NAMES = new Set([
  'metadata',
  'metadata.google.internal',
  'metadata.goog',
  'instance-data',
  'instance-data.ec2.internal',
  'metadata.tencentyun.com',
]);

const LIST = new BlockList();
for (const { network, prefix, family } of METADATA_RANGES) {
  LIST.addSubnet(network, prefix, family);
  if (family === 'ipv6') continue;
  // An IPv4 address within one of IPv6: NAT64, the deprecated compatible form, 6to4. The mapped form (`::ffff:`) is
  // known to the list.
  for (const before of ['64:ff9b::', '::']) LIST.addSubnet(`${before}${network}`, 96 + prefix, 'ipv6');
  const [a = 0, b = 0, c = 0, d = 0] = network.split('.').map(Number);
  LIST.addSubnet(`2002:${(a * 256 + b).toString(16)}:${(c * 256 + d).toString(16)}::`, 16 + prefix, 'ipv6');
}

/** Whether an address is one of a metadata service, in any form; `false` for what is no address. */
export function isMetadataAddress(address: string): boolean {
  const plain = address.replace(/%.*$/, '');
  const family = isIP(plain);
  return family !== 0 && LIST.check(plain, family === 6 ? 'ipv6' : 'ipv4');
}

/**
 * Whether a host as it stands in a URL is one of a metadata service: an address, in brackets or not, or a name that is
 * known for it.
 */
export function isMetadataHost(host: string): boolean {
  const plain = host
    .replace(/^\[|\]$/g, '')
    .replace(/\.$/, '')
    .toLowerCase();
  return NAMES.has(plain) || isMetadataAddress(plain);
}
