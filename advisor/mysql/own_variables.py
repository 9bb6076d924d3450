"""System variables that tell one server from another and are no settings to compare: names, places and positions."""

from __future__ import annotations

import re

#: What a server is, where it lies, and how far it is: different on each by its nature, and nobody's mistake.
_OWN = re.compile(
    r"hostname|port|socket|server_(id|uuid|uid)|report_(host|port|user|password)|pid_file|basedir|datadir|tmpdir"
    r"|(replica|slave)_load_tmpdir|plugin_dir|character_sets_dir|lc_messages_dir|log_error|general_log_file"
    r"|slow_query_log_file|log_slow_query_file|log_(bin|isam|tc)(_basename|_index)?|binlog_directory|aria_log_dir_path"
    r"|relay_log(_basename|_index|_info_file)?|innodb_(data_home_dir|log_group_home_dir|tmpdir|undo_directory|temp_.*_dir"
    r"|doublewrite_dir|directories|buffer_pool_filename|version)"
    r"|gtid_(executed|purged|binlog_pos|binlog_state|current_pos|slave_pos|owned|domain_id)|last_gtid"
    r"|(admin_|mysqlx_)?ssl_(ca|cert|key|capath|crl|crlpath)|(caching_sha2|sha256)_password_.*_path"
    r"|(admin|mysqlx_bind)_address|(admin|mysqlx)_port|mysqlx_socket|bind_address|group_replication_local_address"
    r"|wsrep_(node_.*|cluster_address|data_home_dir|start_position|provider_options|patch_version)"
    r"|version(_(?!malloc).*)?|license|timestamp|rand_seed.*|(last_)?insert_id|identity|pseudo_.*|error_count|warning_count"
    r"|in_transaction|external_user|proxy_user"
)
#: A log's name is the server's own where it is a name; ``log_bin`` itself is on or off.
_SWITCHES = frozenset({"log_bin", "log_tc"})


def is_own(name: str) -> bool:
    """Whether the variable is a server's identity, place or position."""
    return name not in _SWITCHES and _OWN.fullmatch(name) is not None
